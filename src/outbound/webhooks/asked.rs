//! What the administration asks of deliveries.

use std::sync::Arc;

use actors::event_number;
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::Endpoint,
    id::{DeliveryId, EndpointId},
};
use tokio::sync::oneshot;

use super::{
    Delivery, Error, Reach, Said, Webhooks,
    attempt::parcel,
    line::Command,
    note::{Replay, ResponseNote},
};
use crate::http::{field::EventType, view::Event};

/// Events that are looked at once to count those of a part of the log.
const COUNTED: usize = 1000;

/// A delivery, what is sent for it, and what came back.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) delivery: Delivery,
    pub(crate) request: Option<Request>,
    pub(crate) said: Option<Said>,
}

/// What is sent, made again from the event; `None` in its place: the event is not kept any more.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) headers: [(&'static str, String); 5],
    /// Indented for people; what is sent has no spaces.
    pub(crate) body: String,
}

impl Webhooks {
    /// One delivery with what was sent and what came back. What was sent is not kept: it is made again, as
    /// another attempt would make it, and not signed.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDelivery`], [`Error::Unavailable`].
    pub(crate) async fn exchange(
        &self,
        project: &ProjectCatalog,
        endpoint: &Endpoint,
        delivery: DeliveryId,
    ) -> Result<Exchange, Error> {
        let line = self.line(endpoint.id).ok_or(Error::Unavailable)?;
        let delivery = line.shelf.lock().get(&delivery).cloned();
        let delivery = delivery.ok_or(Error::UnknownDelivery)?;
        let handle = &self.0.ground.handle;
        let told = handle.told_as(&project.scope, delivery.event).await;
        let request = match told.map_err(|_| Error::Unavailable)? {
            None => None,
            Some(told) => {
                let event = Event::of(&told, handle);
                let last = delivery.attempts.last();
                let at = last.map_or_else(|| handle.now(), |attempt| attempt.at);
                let mut parcel = parcel(endpoint, &event, at);
                parcel.signature = "v1,…".into();
                Some(Request {
                    headers: parcel.headers(),
                    body: serde_json::to_string_pretty(&event.message()).unwrap_or_default(),
                })
            }
        };
        // What was answered a moment ago is read as well.
        let _ = handle.fold_all().await;
        let (ground, id) = (Arc::clone(&self.0.ground), delivery.id);
        let key = (endpoint.id, id);
        let read = move || notes::one::<ResponseNote>(&ground.handle, &key);
        let said = tokio::task::spawn_blocking(read);
        let said = said.await.map_err(|_| Error::Unavailable)?;
        let said = said.map_err(|error| {
            tracing::error!(%error, "What a webhook was answered cannot be read");
            Error::Unavailable
        })?;
        Ok(Exchange {
            delivery,
            request,
            said,
        })
    }

    /// Where endpoints may be.
    pub(crate) fn reach(&self) -> Reach {
        self.0.ground.sender.reach()
    }

    /// Deliveries to an endpoint, newest first, those before this one.
    pub(crate) fn deliveries(
        &self,
        endpoint: EndpointId,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Vec<Delivery> {
        let line = self.line(endpoint);
        line.map_or_else(Vec::new, |line| line.shelf.lock().page(before, limit))
    }

    /// Sends what was delivered before, or not, once more: what is pending at once, what is over as a
    /// delivery of its own, which this answers once it is durable.
    ///
    /// # Errors
    ///
    /// Every [`Error`].
    pub(crate) async fn again(
        &self,
        endpoint: EndpointId,
        delivery: DeliveryId,
    ) -> Result<Delivery, Error> {
        self.ask(endpoint, |reply| Command::Again(delivery, reply))
            .await
    }

    /// Sends all again that was recorded or happened since an instant and is kept; how many events that is.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub(crate) async fn again_since(
        &self,
        project: &ProjectCatalog,
        endpoint: EndpointId,
        since: Timestamp,
    ) -> Result<u64, Error> {
        let handle = &self.0.ground.handle;
        let wants = project.endpoint(&endpoint).ok_or(Error::Unavailable)?;
        let end = handle.last_told();
        let (mut count, mut first, mut after) = (0_u64, None, 0);
        loop {
            let page = handle.told(&project.scope, after, COUNTED).await;
            let page = page.map_err(|_| Error::Unavailable)?;
            let Some(last) = page.last() else { break };
            after = event_number(last.id);
            let found = page.iter().filter(|told| {
                let kind = EventType::of(&told.notice.news);
                let in_time = told.notice.is_since(since) && event_number(told.id) <= end;
                in_time && wants.wants(kind.as_str())
            });
            for told in found {
                first = first.or_else(|| Some(event_number(told.id)));
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
        command: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Command,
    ) -> Result<T, Error> {
        let line = self.line(endpoint).ok_or(Error::Unavailable)?;
        let (reply, answer) = oneshot::channel();
        let sent = line.commands.send(command(reply)).await;
        sent.map_err(|_| Error::Unavailable)?;
        answer.await.unwrap_or(Err(Error::Unavailable))
    }
}
