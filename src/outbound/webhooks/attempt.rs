//! One event, read as it stands now, signed, and sent.

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
        let event = match Event::of(&told, handle, &project).await {
            Ok(event) => event,
            Err(error) => return Tried::nothing(&error),
        };
        // Texts, numbers and lists of them: it can always be written.
        let body = serde_json::to_vec(&event.message()).unwrap_or_default();
        let now = handle.now();
        let seconds = now.0.div_euclid(1000);
        let secrets = ground.catalog.signing_secrets(&endpoint, now);
        let signature = standard_webhooks::signatures(&secrets, &event.id, seconds, &body);
        let parcel = Parcel {
            url: endpoint.url,
            id: event.id,
            seconds,
            signature,
            body,
        };
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
