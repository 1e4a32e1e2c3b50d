//! Taking money: a payment intent, and the charge that fulfils it.

use crate::core::prelude::*;

/// A payment to be made.
pub(crate) struct Payment<'a> {
    pub(crate) amount: i64,
    pub(crate) currency: &'a str,
    pub(crate) customer: Option<&'a str>,
    pub(crate) email: Option<&'a str>,
    pub(crate) description: Option<&'a str>,
    pub(crate) metadata: Metadata,
}

/// Money is on its way.
pub(crate) fn begin(books: &mut Books, payment: Payment<'_>) -> Intent {
    let intent = Intent {
        head: books.head("pi_"),
        amount: payment.amount,
        currency: payment.currency.to_owned(),
        customer: payment.customer.map(Into::into),
        description: payment.description.map(Into::into),
        email: payment.email.map(Into::into),
        metadata: payment.metadata,
        ..Intent::default()
    };
    books.put(intent.clone());
    intent
}

/// The money is here.
pub(crate) fn succeed(books: &mut Books, mut intent: Intent) {
    let charge = Charge {
        head: books.head("ch_"),
        amount: intent.amount,
        currency: intent.currency.clone(),
        customer: intent.customer.clone(),
        intent: intent.head.id.clone(),
        description: intent.description.clone(),
        email: intent.email.clone(),
        metadata: intent.metadata.clone(),
        ..Charge::default()
    };
    intent.status = IntentStatus::Succeeded;
    intent.latest_charge = Some(charge.head.id.clone());
    books.put(charge.clone());
    books.put(intent.clone());
    books.emit("charge.succeeded", &charge);
    books.emit("payment_intent.succeeded", &intent);
}

/// The buyer's bank asks them who they are.
pub(crate) fn ask(books: &mut Books, mut intent: Intent) {
    intent.status = IntentStatus::RequiresAction;
    books.tell("payment_intent.requires_action", &intent);
}

/// It did not come.
pub(crate) fn fail(books: &mut Books, mut intent: Intent) {
    intent.status = IntentStatus::RequiresPaymentMethod;
    books.tell("payment_intent.payment_failed", &intent);
}
