//! What the administration reads and asks of deliveries.

use std::sync::Arc;

use actors::{event_number, notes};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::Endpoint,
    id::{DeliveryId, EndpointId, EventId},
};
use tokio::sync::oneshot;
use wire::{
    ErrorCode,
    field::EventType,
    view::{self, Message, instant},
};

use super::{
    Attempt, Delivery, NetworkPolicy, ResponseSummary, Status, Webhooks,
    attempt::outgoing,
    command::Command,
    note::{Replay, ResponseNote},
    send::OutgoingRequest,
};
use crate::standard_webhooks;

/// Events read per page while a replay's events are counted.
const COUNTED: usize = 1000;

/// A delivery with its request and the response to it.
#[derive(Debug)]
pub struct Exchange {
    /// The delivery and how its attempts went.
    pub delivery: Delivery,
    /// What is sent; `None`: the event is no longer kept.
    pub request: Option<RequestCopy>,
    pub summary: Option<ResponseSummary>,
}

/// The request of a delivery, built again from the event.
#[derive(Debug)]
pub struct RequestCopy {
    /// The headers that say which event it is.
    pub headers: [(&'static str, String); 5],
    /// Indented for people; the body that is sent has no spaces.
    pub body: String,
}

/// How sending a test event went.
#[derive(Debug)]
pub struct TestOutcome {
    pub event: String,
    pub attempt: Attempt,
    /// The beginning of the response's body; `None`: there was no response.
    pub body: Option<Box<str>>,
}

impl Webhooks {
    /// One delivery with its request and response. Requests are not kept: this one is built again, as the next
    /// attempt would build it, and not signed.
    /// # Errors
    /// [`ErrorCode::DeliveryNotFound`], [`ErrorCode::Unavailable`].
    pub async fn exchange(
        &self,
        project: &ProjectCatalog,
        endpoint: &Endpoint,
        delivery: DeliveryId,
    ) -> Result<Exchange, ErrorCode> {
        let worker = self.worker(endpoint.id).ok_or(ErrorCode::Unavailable)?;
        let delivery = worker.delivery_log.lock().get(&delivery).cloned();
        let delivery = delivery.ok_or(ErrorCode::DeliveryNotFound)?;
        let handle = &self.0.context.handle;
        let record = handle.event_by_id(&project.scope, delivery.event).await;
        let request = match record.map_err(|_| ErrorCode::Unavailable)? {
            None => None,
            Some(record) => {
                let event = view::event(&record, handle, true);
                let last = delivery.attempts.last();
                let at = last.map_or_else(|| handle.now(), |attempt| attempt.at);
                let mut outgoing = outgoing(endpoint, &event, at);
                outgoing.signature = "v1,…".into();
                Some(RequestCopy {
                    headers: outgoing.headers(),
                    body: serde_json::to_string_pretty(&Message(&event)).unwrap_or_default(),
                })
            }
        };
        // Folds first, so that a response from a moment ago is read as well.
        let _ = handle.fold_all().await;
        let (context, id) = (Arc::clone(&self.0.context), delivery.id);
        let key = (endpoint.id, id);
        let read = move || notes::one::<ResponseNote>(&context.handle, &key);
        let summary = tokio::task::spawn_blocking(read);
        let summary = summary.await.map_err(|_| ErrorCode::Unavailable)?;
        let summary = summary.map_err(|error| {
            tracing::error!(%error, "The response to a webhook cannot be read");
            ErrorCode::Unavailable
        })?;
        Ok(Exchange {
            delivery,
            request,
            summary,
        })
    }

    /// Sends an event that did not happen, signed as others are: for somebody who sets up a receiver. Nothing is kept of
    /// it, and it is not tried again.
    /// # Errors
    /// [`ErrorCode::Unavailable`] where no webhooks are sent.
    pub async fn test(
        &self,
        project: &ProjectCatalog,
        endpoint: &Endpoint,
        kind: &str,
    ) -> Result<TestOutcome, ErrorCode> {
        let context = &self.0.context;
        if self.0.tasks.lock().is_none() {
            return Err(ErrorCode::Unavailable);
        }
        let _place = context.at_once.acquire().await;
        let now = context.handle.now();
        let random = getrandom::u64().map_err(|_| ErrorCode::Unavailable)?;
        // The number of no event.
        let id = EventId(u128::from(random)).to_string();
        let data = serde_json::json!({"test": true, "projectId": project.project.id.to_string()});
        let message = serde_json::json!({"type": kind, "timestamp": instant(now), "data": data});
        let body = message.to_string().into_bytes();
        let seconds = now.0.div_euclid(1000);
        let secrets = context.catalog.signing_secrets(endpoint, now);
        let outgoing = OutgoingRequest {
            url: endpoint.url.clone(),
            signature: standard_webhooks::signatures(&secrets, &id, seconds, &body),
            id: id.clone(),
            seconds,
            body,
        };
        let sent = context.sender.send(outgoing, now).await;
        Ok(TestOutcome {
            event: id,
            attempt: sent.attempt,
            body: sent.response.map(|response| response.body),
        })
    }

    /// Which addresses endpoints may have.
    pub fn reach(&self) -> NetworkPolicy {
        self.0.context.sender.reach()
    }

    /// Deliveries to an endpoint, newest first, starting behind `before`; those with this status alone, where there is
    /// one.
    pub fn deliveries(
        &self,
        endpoint: EndpointId,
        before: Option<DeliveryId>,
        limit: usize,
        status: Option<Status>,
    ) -> Vec<Delivery> {
        let worker = self.worker(endpoint);
        worker.map_or_else(Vec::new, |worker| {
            worker.delivery_log.lock().page(before, limit, status)
        })
    }

    /// Sends a delivery again: a pending one at once, a finished one as a new delivery, which this returns once
    /// it is durable.
    /// # Errors
    /// It is not known or no longer kept, or webhooks are unavailable.
    pub async fn again(
        &self,
        endpoint: EndpointId,
        delivery: DeliveryId,
    ) -> Result<Delivery, ErrorCode> {
        self.ask(endpoint, |reply| Command::Again(delivery, reply))
            .await
    }

    /// Sends all kept events again that were recorded or happened since an instant; returns how many.
    /// # Errors
    /// [`ErrorCode::Unavailable`].
    pub async fn again_since(
        &self,
        project: &ProjectCatalog,
        endpoint: EndpointId,
        since: Timestamp,
    ) -> Result<u64, ErrorCode> {
        let handle = &self.0.context.handle;
        let wants = project.endpoint(&endpoint).ok_or(ErrorCode::Unavailable)?;
        let end = handle.last_event_number();
        let (mut count, mut first, mut after) = (0_u64, None, 0);
        loop {
            let page = handle.events_from(&project.scope, after, COUNTED).await;
            let page = page.map_err(|_| ErrorCode::Unavailable)?;
            let Some(last) = page.last() else { break };
            after = event_number(last.id);
            let found = page.iter().filter(|record| {
                let kind = EventType::of(&record.project_event.data);
                let in_time =
                    record.project_event.is_since(since) && event_number(record.id) <= end;
                in_time && wants.wants(kind.as_str())
            });
            for record in found {
                first = first.or_else(|| Some(event_number(record.id)));
                count = count.saturating_add(1);
            }
            if after >= end || page.len() < COUNTED {
                break;
            }
        }
        if let Some(first) = first {
            let replay = Replay {
                cursor: first.saturating_sub(1),
                end,
                since: since.0,
            };
            self.ask(endpoint, |reply| Command::AllAgain(replay, reply))
                .await?;
        }
        Ok(count)
    }

    async fn ask<T>(
        &self,
        endpoint: EndpointId,
        command: impl FnOnce(oneshot::Sender<Result<T, ErrorCode>>) -> Command,
    ) -> Result<T, ErrorCode> {
        let worker = self.worker(endpoint).ok_or(ErrorCode::Unavailable)?;
        let (reply, answer) = oneshot::channel();
        let sent = worker.commands.send(command(reply)).await;
        sent.map_err(|_| ErrorCode::Unavailable)?;
        answer.await.unwrap_or(Err(ErrorCode::Unavailable))
    }
}
