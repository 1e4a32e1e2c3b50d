//! A period ends: the next one is billed, or the subscription ends. The invoice is a draft for its first hour, while
//! the period has moved on.

use crate::core::prelude::*;

impl Subscription {
    /// Does what is due. The state's instant is when it was due.
    pub(crate) fn step(self, db: &mut Database) {
        let is_due = |at: Option<i64>| at.is_some_and(|at| at <= db.now);
        let resumes = self.pause.as_ref().and_then(|pause| pause.resumes_at);
        let trialing = self.status == SubscriptionStatus::Trialing && db.now < self.period_end;
        if is_due(resumes) {
            self.collect_again(db);
        } else if self.status == SubscriptionStatus::PastDue {
            self.retry(db);
        } else if trialing && is_due(self.announces_at()) {
            self.announce(db);
        } else {
            self.renew(db);
        }
    }

    /// Ends a period: renews, or ends the subscription.
    fn renew(self, db: &mut Database) {
        if self.cancel_at_end {
            return self.end(db, "cancellation_requested");
        }
        let before = self.clone();
        let outcome = match self.status {
            SubscriptionStatus::Trialing => self.trial_over(db),
            _ => self.bill(db),
        };
        if outcome.is_err() {
            // For example a price is missing: a subscription that cannot be billed must not be retried for ever.
            before.end(db, "payment_failed");
        }
    }

    /// Begins the next period and creates its invoice.
    fn bill(mut self, db: &mut Database) -> Result<()> {
        self.advance_schedule(db)?;
        if let Some(next) = self.scheduled.take() {
            let price: Price = db.find(&next)?;
            let interval = price.interval.unwrap_or(self.interval);
            if interval != self.interval {
                self.interval = interval;
                self.anchor = self.period_end;
                self.cycle = 0;
            }
            self.item.price = price.head.id;
        }
        self.advance();
        self.draw_up_cycle(db)
    }

    pub(super) fn draw_up_cycle(mut self, db: &mut Database) -> Result<()> {
        let (lines, discount) = self.cycle_lines(db)?;
        let mut invoice = self.draft(db, BillingReason::SubscriptionCycle, lines, discount);
        let pause = self.pause.as_ref().map(|pause| pause.behavior);
        let stays = self.status == SubscriptionStatus::Unpaid;
        if stays || pause == Some(PauseBehavior::KeepAsDraft) {
            invoice.finalizes_at = None;
        }
        db.put(invoice.clone());
        self.updated(db);
        db.emit("invoice.created", &invoice);
        // While collection is paused, an invoice is voided or marked uncollectible as soon as it exists.
        if let Some(PauseBehavior::Void | PauseBehavior::MarkUncollectible) = pause {
            let invoice = invoice.open_for_payment(db);
            invoice.give_up(db, pause == Some(PauseBehavior::Void));
        }
        Ok(())
    }
}
