//! One attempt: reads an event, signs it and sends it.

use std::sync::Arc;

use actors::{EventRecord, Handle};
use catalog::{CatalogStore, ProjectCatalog};
use domain::{Timestamp, catalog::Endpoint, id::EventId};
use tokio::sync::Semaphore;
use wire::view::{self, Event, Message};

use super::{
    counters::AttemptCounters,
    send::{OutgoingRequest, SendResult, Sender},
};
use crate::standard_webhooks;

/// What all endpoint tasks share.
pub(super) struct WorkerContext {
    pub(super) handle: Handle,
    pub(super) catalog: Arc<CatalogStore>,
    pub(super) sender: Sender,
    pub(super) at_once: Semaphore,
    pub(super) counters: AttemptCounters,
}

pub(super) enum AttemptOutcome {
    Answered(SendResult),
    /// The service is overloaded, or another process leads; nothing was sent.
    Later,
    /// The event could not be read; nothing was sent.
    Unread,
    /// The event is no longer kept.
    Lost,
}

/// Makes an attempt; `record` is the event, where it was read already.
pub(super) async fn attempt(
    context: Arc<WorkerContext>,
    project: Arc<ProjectCatalog>,
    endpoint: Endpoint,
    event: EventId,
    record: Option<Box<EventRecord>>,
) -> AttemptOutcome {
    // Never closed.
    let _place = context.at_once.acquire().await;
    let handle = &context.handle;
    let record = match record {
        Some(record) => *record,
        None => match handle.event_by_id(&project.scope, event).await {
            Ok(Some(record)) => record,
            Ok(None) => return AttemptOutcome::Lost,
            Err(actors::Error::Overloaded) => return AttemptOutcome::Later,
            Err(_) => return AttemptOutcome::Unread,
        },
    };
    // The present leader sends it.
    if !handle.leads() {
        return AttemptOutcome::Later;
    }
    let event = view::event(&record, handle, true);
    let now = handle.now();
    // Judged by the receiver's clock: not by the one that follows a jump slowly.
    let mut outgoing = outgoing(&endpoint, &event, handle.wall());
    let secrets = context.catalog.signing_secrets(&endpoint, now);
    let (id, seconds) = (&outgoing.id, outgoing.seconds);
    outgoing.signature = standard_webhooks::signatures(&secrets, id, seconds, &outgoing.body);
    AttemptOutcome::Answered(context.sender.send(outgoing, now).await)
}

/// The request for an event at an instant, without its signature.
pub(super) fn outgoing(endpoint: &Endpoint, event: &Event, at: Timestamp) -> OutgoingRequest {
    OutgoingRequest {
        url: endpoint.url.clone(),
        id: event.id.clone(),
        seconds: at.0.div_euclid(1000),
        signature: String::new(),
        // Consists of texts, numbers and lists: serializing cannot fail.
        body: serde_json::to_vec(&Message(event)).unwrap_or_default(),
    }
}
