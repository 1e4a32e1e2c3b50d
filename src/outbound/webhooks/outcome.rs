//! What came of an attempt: the delivery is over, or is tried again later, or its endpoint is switched off.

use domain::{
    Timestamp,
    catalog::EndpointStatus,
    id::{DeliveryId, WalletKey},
};
use tokio::task;

use super::{
    attempt::Tried,
    delivery::{Attempt, Delivery, Status},
    line::{AT_ONCE, Line},
    queue::Entry,
    said::Said,
    schedule,
    send::Answer,
};

/// What cannot be told now is told a little later, in milliseconds.
const LATER_MILLIS: i64 = 1000;

impl Line {
    pub(super) async fn finished(&mut self, done: Result<(task::Id, Tried), task::JoinError>) {
        let (id, tried) = match done {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "An attempt to deliver a webhook ended in a defect");
                (error.id(), Tried::Later)
            }
        };
        let Some((wallet, entry)) = self.of.remove(&id) else {
            return;
        };
        match tried {
            Tried::Later => {
                let at = self.ground.handle.now().0.saturating_add(LATER_MILLIS);
                self.queue.postpone(wallet, Timestamp(at), false);
            }
            Tried::Lost(at) => {
                let error = "The event is not kept any more.".into();
                let attempt = Attempt {
                    at,
                    status_code: None,
                    error: Some(error),
                    millis: 0,
                };
                self.over(wallet, &entry, attempt, Status::Failed);
            }
            Tried::Answered(at, answer) => self.answered(wallet, &entry, at, answer).await,
        }
    }

    async fn answered(&mut self, wallet: WalletKey, entry: &Entry, at: Timestamp, answer: Answer) {
        let now = self.ground.handle.now();
        self.ground.counters.count(&answer);
        let is_gone = answer.status_code == Some(410);
        if let Some((status_code, (headers, body, is_cut))) = answer.status_code.zip(answer.said) {
            let said = Said {
                at,
                status_code,
                headers,
                body,
                is_cut,
            };
            self.said.insert(entry.delivery, said);
        }
        let attempt = Attempt {
            at,
            status_code: answer.status_code,
            error: answer.error,
            millis: answer.millis,
        };
        if attempt.error.is_none() {
            self.failing_since = None;
            self.places = self.places.saturating_add(1).min(AT_ONCE);
            self.over(wallet, entry, attempt, Status::Succeeded);
            return;
        }
        self.places = 1;
        let since = *self.failing_since.get_or_insert(at);
        let mut delivery = self.current(wallet, entry);
        delivery.tried(attempt);
        let wish = answer.retry_after;
        let wish = wish.and_then(|header| schedule::wish(&header, now));
        let random = getrandom::u64().unwrap_or(0);
        match schedule::next(delivery.attempts.len(), now, wish, random) {
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

    fn over(&mut self, wallet: WalletKey, entry: &Entry, attempt: Attempt, status: Status) {
        let mut delivery = self.current(wallet, entry);
        delivery.tried(attempt);
        delivery.ended(status);
        self.fresh.insert(delivery.id, delivery);
        self.queue.finish(wallet, self.ground.handle.now());
    }

    /// A delivery as it is by now.
    fn current(&self, wallet: WalletKey, entry: &Entry) -> Delivery {
        let known = self.known(&entry.delivery);
        known.unwrap_or_else(|| entry.delivery(wallet))
    }

    pub(super) fn known(&self, id: &DeliveryId) -> Option<Delivery> {
        let fresh = self.fresh.get(id).cloned();
        fresh.or_else(|| self.shared.shelf.lock().get(id).cloned())
    }

    async fn disable(&self, why: EndpointStatus) {
        tracing::warn!(endpoint = %self.id, project = %self.project, ?why, "A webhook endpoint is sent nothing any more, until it is set active again");
        let disabled = self
            .ground
            .catalog
            .disable_endpoint(self.project, self.id, why);
        if let Err(error) = disabled.await {
            tracing::error!(%error, endpoint = %self.id, "A webhook endpoint could not be switched off; the next answer tries again");
        }
    }
}
