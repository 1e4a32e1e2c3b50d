//! Acts on an attempt's outcome: ends the delivery, plans a retry, or disables the endpoint.

use domain::{
    Timestamp,
    catalog::EndpointStatus,
    id::{DeliveryId, WalletKey},
};
use tokio::task;

use super::{
    attempt::AttemptOutcome,
    delivery::{Attempt, Delivery, Status},
    queue::QueuedDelivery,
    schedule,
    send::SendResult,
    summary::ResponseSummary,
    worker::{AT_ONCE, EndpointWorker},
};

/// Seconds until the next try after the service was overloaded.
const LATER_SECONDS: i64 = 1;

impl EndpointWorker {
    pub(super) async fn finished(
        &mut self,
        done: Result<(task::Id, AttemptOutcome), task::JoinError>,
    ) {
        let (id, outcome) = match done {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "An attempt to deliver a webhook panicked");
                (error.id(), AttemptOutcome::Unread)
            }
        };
        let Some((wallet, entry)) = self.in_flight.remove(&id) else {
            return;
        };
        match outcome {
            AttemptOutcome::Later => {
                let at = self.context.handle.now().plus_seconds(LATER_SECONDS);
                self.queue.put_off(wallet, at, entry.unread);
            }
            AttemptOutcome::Unread => self.unread(wallet, &entry),
            AttemptOutcome::Lost(at) => {
                self.give_up(wallet, &entry, at, "The event is no longer kept.")
            }
            AttemptOutcome::Answered(at, answer) => self.answered(wallet, &entry, at, answer).await,
        }
    }

    /// Plans another attempt after a growing pause, or marks it failed so that the wallet's next events can be sent.
    fn unread(&mut self, wallet: WalletKey, entry: &QueuedDelivery) {
        let now = self.context.handle.now();
        let times = entry.unread.saturating_add(1);
        if let Some(at) = schedule::unread(times, now) {
            self.queue.put_off(wallet, at, times);
            return;
        }
        tracing::error!(endpoint = %self.id, event = %entry.event, times, "An event cannot be read and is not sent to a webhook endpoint");
        self.context.counters.unreadable.inc();
        let why = "The event could not be read; nothing was sent. See the server's log.";
        self.give_up(wallet, entry, now, why);
    }

    fn give_up(&mut self, wallet: WalletKey, entry: &QueuedDelivery, at: Timestamp, why: &str) {
        let attempt = Attempt {
            at,
            status_code: None,
            error: Some(why.into()),
            millis: 0,
        };
        self.over(wallet, entry, attempt, Status::Failed);
    }

    async fn answered(
        &mut self,
        wallet: WalletKey,
        entry: &QueuedDelivery,
        at: Timestamp,
        answer: SendResult,
    ) {
        let now = self.context.handle.now();
        self.context.counters.count(&answer);
        let is_gone = answer.status_code == Some(410);
        if let Some((status_code, (headers, body, is_cut))) = answer.status_code.zip(answer.summary)
        {
            let summary = ResponseSummary {
                at,
                status_code,
                headers,
                body,
                is_cut,
            };
            self.summary.insert(entry.delivery, summary);
        }
        let attempt = Attempt {
            at,
            status_code: answer.status_code,
            error: answer.error,
            millis: answer.millis,
        };
        self.shared.recent.lock().add(&attempt);
        if attempt.error.is_none() {
            self.failing_since = None;
            self.max_in_flight = self.max_in_flight.saturating_add(1).min(AT_ONCE);
            self.over(wallet, entry, attempt, Status::Succeeded);
            return;
        }
        self.max_in_flight = 1;
        let since = *self.failing_since.get_or_insert(at);
        let mut delivery = self.current(wallet, entry);
        delivery.add_attempt(attempt, entry.by_hand);
        let wish = answer.retry_after;
        let wish = wish.and_then(|header| schedule::wish(&header, now));
        let next = if entry.by_hand {
            Some(schedule::after_by_hand(delivery.next_at, now, wish))
        } else {
            let random = getrandom::u64().unwrap_or(0);
            schedule::next(delivery.scheduled, now, wish, random)
        };
        match next {
            Some(next) => {
                delivery.next_at = Some(next);
                self.queue.postpone(wallet, next, true);
            }
            None => {
                delivery.ended(Status::Failed);
                self.queue.finish(wallet, now);
            }
        }
        self.fresh.insert(delivery.id, delivery);
        if is_gone {
            self.disable(EndpointStatus::Gone).await;
        } else if now >= since.plus_seconds(schedule::FAILING_SECONDS) {
            self.disable(EndpointStatus::Failing).await;
        }
    }

    fn over(
        &mut self,
        wallet: WalletKey,
        entry: &QueuedDelivery,
        attempt: Attempt,
        status: Status,
    ) {
        let mut delivery = self.current(wallet, entry);
        delivery.add_attempt(attempt, entry.by_hand);
        delivery.ended(status);
        self.fresh.insert(delivery.id, delivery);
        self.queue.finish(wallet, self.context.handle.now());
    }

    /// A delivery in its current state.
    fn current(&self, wallet: WalletKey, entry: &QueuedDelivery) -> Delivery {
        let known = self.known(&entry.delivery);
        known.unwrap_or_else(|| entry.delivery(wallet))
    }

    pub(super) fn known(&self, id: &DeliveryId) -> Option<Delivery> {
        let fresh = self.fresh.get(id).cloned();
        fresh.or_else(|| self.shared.delivery_log.lock().get(id).cloned())
    }

    async fn disable(&self, why: EndpointStatus) {
        tracing::warn!(endpoint = %self.id, project = %self.project, ?why, "A webhook endpoint was disabled until it is set active again");
        let disabled = self
            .context
            .catalog
            .disable_endpoint(self.project, self.id, why);
        if let Err(error) = disabled.await {
            tracing::error!(%error, endpoint = %self.id, "A webhook endpoint could not be disabled; the next response tries again");
        }
    }
}
