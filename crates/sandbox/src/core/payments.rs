//! Payment intents and their charges.

use crate::core::prelude::*;

impl PaymentIntent {
    pub(crate) fn succeed(mut self, db: &mut Database) {
        let charge = Charge {
            head: db.head("ch_"),
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
        db.put(charge.clone());
        db.put(self.clone());
        db.emit("charge.succeeded", &charge);
        db.emit("payment_intent.succeeded", &self);
    }

    pub(crate) fn ask(&mut self, db: &mut Database) {
        self.status = IntentStatus::RequiresAction;
        db.put_and_emit("payment_intent.requires_action", self);
    }

    pub(crate) fn fail(mut self, db: &mut Database) {
        self.status = IntentStatus::RequiresPaymentMethod;
        db.put_and_emit("payment_intent.payment_failed", &self);
    }
}
