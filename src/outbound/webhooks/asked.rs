//! What the administration asks of deliveries.

use actors::event_number;
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    id::{DeliveryId, EndpointId},
};
use tokio::sync::oneshot;

use super::{Delivery, Error, Reach, Webhooks, line::Command, note::Replay};
use crate::http::field::EventType;

/// Events that are looked at once to count those of a part of the log.
const COUNTED: usize = 1000;

impl Webhooks {
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

    /// Sends all again that happened since an instant and is kept; how many events that is.
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
                let in_time = told.notice.at >= since && event_number(told.id) <= end;
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
