//! A period ends: the next one is billed, or the subscription ends. The invoice is a draft for its first hour, while
//! the period has moved on.

use crate::core::prelude::*;

impl Subscription {
    /// Does what is due. The state's instant is when it was due.
    pub(crate) fn step(self, books: &mut Books) {
        let is_due = |at: Option<i64>| at.is_some_and(|at| at <= books.now);
        let resumes = self.pause.as_ref().and_then(|pause| pause.resumes_at);
        let trialing = self.status == SubscriptionStatus::Trialing && books.now < self.period_end;
        if is_due(resumes) {
            self.collect_again(books);
        } else if self.status == SubscriptionStatus::PastDue {
            self.retry(books);
        } else if trialing && is_due(self.announces_at()) {
            self.announce(books);
        } else {
            self.renew(books);
        }
    }

    /// Ends a period: renews, or ends the subscription.
    fn renew(self, books: &mut Books) {
        if self.cancel_at_end {
            return self.end(books, "cancellation_requested");
        }
        let before = self.clone();
        let outcome = match self.status {
            SubscriptionStatus::Trialing => self.trial_over(books),
            _ => self.bill(books),
        };
        if outcome.is_err() {
            // For example a price is missing: a subscription that cannot be billed must not be retried for ever.
            before.end(books, "payment_failed");
        }
    }

    /// Begins the next period and creates its invoice.
    fn bill(mut self, books: &mut Books) -> Result<()> {
        self.advance_schedule(books)?;
        if let Some(next) = self.scheduled.take() {
            let price: Price = books.find(&next)?;
            let interval = price.interval.unwrap_or(self.interval);
            if interval != self.interval {
                self.interval = interval;
                self.anchor = self.period_end;
                self.cycle = 0;
            }
            self.item.price = price.head.id;
        }
        self.advance();
        self.draw_up_cycle(books)
    }

    /// Creates the invoice of the current period.
    pub(super) fn draw_up_cycle(mut self, books: &mut Books) -> Result<()> {
        let (lines, discount) = self.cycle_lines(books)?;
        let mut invoice = self.draft(books, BillingReason::Cycle, lines, discount);
        let pause = self.pause.as_ref().map(|pause| pause.behavior);
        let stays = self.status == SubscriptionStatus::Unpaid;
        if stays || pause == Some(PauseBehavior::KeepAsDraft) {
            invoice.finalizes_at = None;
        }
        books.put(invoice.clone());
        self.updated(books);
        books.emit("invoice.created", &invoice);
        // While collection is paused, an invoice is voided or marked uncollectible as soon as it exists.
        if let Some(PauseBehavior::Void | PauseBehavior::MarkUncollectible) = pause {
            let invoice = invoice.open_for_payment(books);
            invoice.give_up(books, pause == Some(PauseBehavior::Void));
        }
        Ok(())
    }
}
