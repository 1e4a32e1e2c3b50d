//! A subscription's next cycle was paid: what the last one left ends, the new one's credits come, as
//! an order of its own.

use super::{
    Archived, Event, Wallet,
    cycle::Place,
    draft::Draft,
    order::OrderKind,
    pay::{Billing, Grant, Payment, credits},
    place_order::PlaceOrder,
};
use crate::{id::OrderSerial, terms::Terms, time::Timestamp};

/// A paid invoice of a subscription's cycle, also one over nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renew {
    /// The order to make of it, derived from the invoice: the same invoice is heard once.
    pub order: OrderSerial,
    /// [`OrderKind::Renewal`], or [`OrderKind::Switch`] where a switch made the provider bill a whole
    /// new cycle: from a month to a year, from nothing to a price.
    pub kind: OrderKind,
    /// The tier that it pays.
    pub terms: Terms,
    /// The payment.
    pub payment: Payment,
    /// The subscription and its new cycle.
    pub billing: Billing,
}

impl Wallet {
    /// Decides what a paid cycle brings. What that of a cycle before the current one brings ends at once,
    /// as if it had come in time, and nothing else does; so does that of a subscription that is over.
    #[must_use]
    pub fn renew(&self, command: Renew, archived: Archived<'_>, now: Timestamp) -> Vec<Event> {
        let Renew {
            order,
            kind,
            terms,
            payment,
            billing,
        } = command;
        if self.any_order(order, archived).is_some() {
            return Vec::new();
        }
        let id = &billing.subscription;
        let mut draft = Draft::on(self, Some(order), Some(id), archived, now);
        let known = self.subscription(id);
        let place = known.map(|known| known.place_of_payment(billing.cycle()));
        if place == Some(Place::Next) {
            draft.end_cycle(id);
        }
        let grant = Grant {
            credits: credits(&terms, &payment, &billing),
            over: archived.subscription_over || place == Some(Place::Over),
        };
        let customer = payment.customer.clone();
        draft.place(kind, PlaceOrder::made(order, terms));
        draft.fulfil(order, payment, Some(&billing), grant);
        if !grant.over {
            draft.take_cycle(order, customer, &billing);
        }
        draft.finish()
    }
}
