//! Payment intents and their charges.

use crate::core::prelude::*;

impl PaymentIntent {
    /// Marks it as succeeded, with a new charge.
    pub(crate) fn succeed(mut self, books: &mut Books) {
        let charge = Charge {
            head: books.head("ch_"),
            amount: self.amount,
            currency: self.currency.clone(),
            customer: self.customer.clone(),
            intent: self.head.id.clone(),
            description: self.description.clone(),
            email: self.email.clone(),
            metadata: self.metadata.clone(),
            ..Charge::default()
        };
        self.status = IntentStatus::Succeeded;
        self.latest_charge = Some(charge.head.id.clone());
        books.put(charge.clone());
        books.put(self.clone());
        books.emit("charge.succeeded", &charge);
        books.emit("payment_intent.succeeded", &self);
    }

    /// Marks it as waiting for the buyer's 3-D Secure authentication.
    pub(crate) fn ask(&mut self, books: &mut Books) {
        self.status = IntentStatus::RequiresAction;
        books.put_and_emit("payment_intent.requires_action", self);
    }

    /// Marks it as failed: no money was taken.
    pub(crate) fn fail(mut self, books: &mut Books) {
        self.status = IntentStatus::RequiresPaymentMethod;
        books.put_and_emit("payment_intent.payment_failed", &self);
    }
}
