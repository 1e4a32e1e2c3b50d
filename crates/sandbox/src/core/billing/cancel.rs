//! Ends a subscription: now, or with its paid period, which can be withdrawn.

use crate::core::prelude::*;

impl Subscription {
    pub(crate) fn cancel_at_end(mut self, db: &mut Database, ending: bool) -> Result<Self> {
        self.refusal().when(!self.status.is_running())?;
        if ending {
            // A subscription that ends has no next tier.
            self.release(db)?;
        }
        if self.cancel_at_end != ending {
            self.cancel_at_end = ending;
            self.canceled_at = ending.then_some(db.now);
            self.why_ended = ending.then(|| "cancellation_requested".into());
            self.updated(db);
        }
        Ok(self)
    }

    pub(crate) fn cancel_now(self, db: &mut Database) -> Result<Self> {
        let id = self.head.id.clone();
        Refusal::no_such("subscription", &id).when(self.ended_at.is_some())?;
        self.end(db, "cancellation_requested");
        db.find(&id)
    }

    /// Ends it, with its open invoices and its schedule.
    pub(super) fn end(mut self, db: &mut Database, why: &str) {
        let retry = self.retry.take();
        let unpaid = retry.and_then(|retry| db.get::<Invoice>(&retry.invoice).cloned());
        if let Some(invoice) = unpaid {
            invoice.give_up(db, false);
        }
        let drafts = db.copies::<Invoice>(|invoice| {
            invoice.subscription == self.head.id && invoice.status == InvoiceStatus::Draft
        });
        for mut draft in drafts {
            draft.finalizes_at = None;
            db.put(draft);
        }
        self.end_schedule(db);
        self.pause = None;
        self.drop_prorations(db);
        self.status = SubscriptionStatus::Canceled;
        self.scheduled = None;
        self.canceled_at = self.canceled_at.or(Some(db.now));
        self.ended_at = Some(db.now);
        self.why_ended = Some(why.to_owned());
        db.put_and_emit("customer.subscription.deleted", &self);
    }
}
