//! Ends a subscription: now, or with its paid period, which can be withdrawn.

use crate::core::prelude::*;

impl Subscription {
    /// Sets whether it ends with its period.
    pub(crate) fn cancel_at_end(mut self, books: &mut Books, ending: bool) -> Result<Self> {
        self.refusal().when(!self.status.is_running())?;
        if ending {
            // A subscription that ends has no next tier.
            self.release(books)?;
        }
        if self.cancel_at_end != ending {
            self.cancel_at_end = ending;
            self.canceled_at = ending.then_some(books.now);
            self.why_ended = ending.then(|| "cancellation_requested".into());
            self.updated(books);
        }
        Ok(self)
    }

    /// Ends it now.
    pub(crate) fn cancel_now(self, books: &mut Books) -> Result<Self> {
        let id = self.head.id.clone();
        Refusal::no_such("subscription", &id).when(self.ended_at.is_some())?;
        self.end(books, "cancellation_requested");
        books.find(&id)
    }

    /// Ends it, with its open invoices and its schedule.
    pub(super) fn end(mut self, books: &mut Books, why: &str) {
        let retry = self.retry.take();
        let unpaid = retry.and_then(|retry| books.get::<Invoice>(&retry.invoice).cloned());
        if let Some(invoice) = unpaid {
            invoice.give_up(books, false);
        }
        let drafts = books.copies::<Invoice>(|invoice| {
            invoice.subscription == self.head.id && invoice.status == InvoiceStatus::Draft
        });
        for mut draft in drafts {
            draft.finalizes_at = None;
            books.put(draft);
        }
        self.end_schedule(books);
        self.pause = None;
        self.drop_prorations(books);
        self.status = SubscriptionStatus::Canceled;
        self.scheduled = None;
        self.canceled_at = self.canceled_at.or(Some(books.now));
        self.ended_at = Some(books.now);
        self.why_ended = Some(why.to_owned());
        books.put_and_emit("customer.subscription.deleted", &self);
    }
}
