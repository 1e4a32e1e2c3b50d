//! Two kinds of pause: the shop collects nothing for a while although cycles continue, or a subscription without a card
//! waits after its trial to be resumed.

use crate::core::prelude::*;

impl Subscription {
    pub(crate) fn pause_collection(mut self, db: &mut Database, pause: Pause) -> Result<Self> {
        Refusal::param(
            "pause_collection[resumes_at]",
            "`resumes_at` must be in the future.",
        )
        .when(pause.resumes_at.is_some_and(|at| at <= db.now))?;
        if self.pause.as_ref() != Some(&pause) {
            self.pause = Some(pause);
            self.updated(db);
        }
        Ok(self)
    }

    /// Collects again, from the next invoice on.
    pub(crate) fn collect_again(mut self, db: &mut Database) -> Self {
        if self.pause.take().is_some() {
            self.updated(db);
        }
        self
    }

    /// Pauses it after a trial without a card.
    pub(crate) fn suspend(mut self, db: &mut Database) -> Result<Self> {
        match self.status {
            SubscriptionStatus::Paused => return Ok(self),
            SubscriptionStatus::Trialing | SubscriptionStatus::Active => {}
            _ => return Err(self.refusal()),
        }
        self.status = SubscriptionStatus::Paused;
        db.put_and_emit("customer.subscription.paused", &self);
        Ok(self)
    }

    /// Resumes it. Unless its paid period still runs, a cycle is billed at once, from now if `anchored_now`.
    pub(crate) fn resume(mut self, db: &mut Database, anchored_now: bool) -> Result<Self> {
        const EVENT_TYPE: &str = "customer.subscription.resumed";
        let message = format!(
            "Only subscriptions with a status of `paused` can be resumed. This subscription has a \
             status of `{}`.",
            self.status.word()
        );
        Refusal::invalid(message).when(self.status != SubscriptionStatus::Paused)?;
        if !anchored_now && db.now < self.period_end {
            // The paid cycle continues.
            self.status = SubscriptionStatus::Active;
            self.no_card = false;
            db.put_and_emit(EVENT_TYPE, &self);
            return Ok(self);
        }
        if anchored_now {
            self.begin(db.now);
        }
        while self.period_end <= db.now && self.period_end < i64::MAX {
            self.advance();
        }
        self.bill_cycle(db, EVENT_TYPE)
    }
}
