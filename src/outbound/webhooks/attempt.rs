//! One event, read, signed, and sent.

use std::sync::Arc;

use actors::Told;
use catalog::ProjectCatalog;
use domain::{Timestamp, catalog::Endpoint, id::EventId};

use super::{
    Ground,
    send::{Answer, Parcel},
};
use crate::{http::view::Event, outbound::standard_webhooks};

/// What to do once.
pub(super) struct Task {
    pub(super) ground: Arc<Ground>,
    pub(super) project: Arc<ProjectCatalog>,
    pub(super) endpoint: Endpoint,
    pub(super) event: EventId,
    /// What it says, where that is known already.
    pub(super) told: Option<Box<Told>>,
}

/// What came of it.
pub(super) enum Tried {
    /// It was sent, at this instant.
    Answered(Timestamp, Answer),
    /// There was too much else to do; nothing was sent.
    Later,
    /// It could not be read; nothing was sent.
    Unread,
    /// It is not kept any more.
    Lost(Timestamp),
}

impl Task {
    pub(super) async fn run(self) -> Tried {
        let Self {
            ground,
            project,
            endpoint,
            event,
            told,
        } = self;
        // Closed by nobody.
        let _place = ground.at_once.acquire().await;
        let handle = &ground.handle;
        let told = match told {
            Some(told) => *told,
            None => match handle.told_as(&project.scope, event).await {
                Ok(Some(told)) => told,
                Ok(None) => return Tried::Lost(handle.now()),
                Err(error) => return Tried::nothing(&error),
            },
        };
        let event = Event::of(&told, handle);
        let now = handle.now();
        let mut parcel = parcel(&endpoint, &event, now);
        let secrets = ground.catalog.signing_secrets(&endpoint, now);
        let (id, seconds) = (&parcel.id, parcel.seconds);
        parcel.signature = standard_webhooks::signatures(&secrets, id, seconds, &parcel.body);
        Tried::Answered(now, ground.sender.send(parcel).await)
    }
}

impl Tried {
    const fn nothing(error: &actors::Error) -> Self {
        match error {
            actors::Error::Overloaded => Self::Later,
            _ => Self::Unread,
        }
    }
}

/// What is sent of an event at an instant, but for its signature.
pub(super) fn parcel(endpoint: &Endpoint, event: &Event, at: Timestamp) -> Parcel {
    Parcel {
        url: endpoint.url.clone(),
        id: event.id.clone(),
        seconds: at.0.div_euclid(1000),
        signature: String::new(),
        // Texts, numbers and lists of them: it can always be written.
        body: serde_json::to_vec(&event.message()).unwrap_or_default(),
    }
}
