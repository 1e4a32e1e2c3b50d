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

/// What there was no room for is told a little later.
const LATER_SECONDS: i64 = 1;

impl Line {
    pub(super) async fn finished(&mut self, done: Result<(task::Id, Tried), task::JoinError>) {
        let (id, tried) = match done {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "An attempt to deliver a webhook ended in a defect");
                (error.id(), Tried::Unread)
            }
        };
        let Some((wallet, entry)) = self.of.remove(&id) else {
            return;
        };
        match tried {
            Tried::Later => {
                let at = self.ground.handle.now().plus_seconds(LATER_SECONDS);
                self.queue.put_off(wallet, at, entry.unread);
            }
            Tried::Unread => self.unread(wallet, &entry),
            Tried::Lost(at) => self.give_up(wallet, &entry, at, "The event is not kept any more."),
            Tried::Answered(at, answer) => self.answered(wallet, &entry, at, answer).await,
        }
    }

    /// Tried again, less and less often; then the next events of its wallet have waited long enough.
    fn unread(&mut self, wallet: WalletKey, entry: &Entry) {
        let now = self.ground.handle.now();
        let times = entry.unread.saturating_add(1);
        if let Some(at) = schedule::unread(times, now) {
            self.queue.put_off(wallet, at, times);
            return;
        }
        tracing::error!(endpoint = %self.id, event = %entry.event, times, "An event cannot be read, and is not sent to a webhook endpoint");
        self.ground.counters.unreadable.inc();
        let why = "The event could not be read; nothing was sent. The log of the server says more.";
        self.give_up(wallet, entry, now, why);
    }

    fn give_up(&mut self, wallet: WalletKey, entry: &Entry, at: Timestamp, why: &str) {
        let attempt = Attempt {
            at,
            status_code: None,
            error: Some(why.into()),
            millis: 0,
        };
        self.over(wallet, entry, attempt, Status::Failed);
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
        delivery.tried(attempt, entry.by_hand);
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

    fn over(&mut self, wallet: WalletKey, entry: &Entry, attempt: Attempt, status: Status) {
        let mut delivery = self.current(wallet, entry);
        delivery.tried(attempt, entry.by_hand);
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
