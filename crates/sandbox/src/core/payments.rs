//! Payment intents and their charges.

use crate::core::prelude::*;

impl PaymentIntent {
    /// Its attempt to charge, as it ended.
    pub(crate) fn new_charge(&self, db: &mut Database) -> Charge {
        let customer = self.customer.as_deref();
        let customer = customer.and_then(|id| db.get::<Customer>(id));
        let email = self.email.clone().or_else(|| customer?.email.clone());
        Charge {
            head: db.head("ch_"),
            amount: self.amount,
            currency: self.currency.clone(),
            customer: self.customer.clone(),
            intent: self.head.id.clone(),
            description: self.description.clone(),
            email,
            metadata: self.metadata.clone(),
            payment_method: self.payment_method.clone(),
            failure_code: self.declined.clone(),
            ..Charge::default()
        }
    }

    pub(crate) fn succeed(mut self, db: &mut Database) {
        self.declined = None;
        let charge = self.new_charge(db);
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
