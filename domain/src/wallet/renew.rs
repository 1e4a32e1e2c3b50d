//! A subscription's next cycle was paid: what the last one left ends, the new one's credits come, as
//! an order of its own.

use std::collections::BTreeMap;

use super::{
    Archived, Change, Event, Wallet,
    draft::Draft,
    event::{SubscriptionChanged, SubscriptionNews},
    order::OrderKind,
    pay::{Billing, Payment},
    place_order::PlaceOrder,
    subscription::{Subscription, SubscriptionStatus},
};
use crate::{id::OrderSerial, terms::Terms, text::SubscriptionId, time::Timestamp};

/// A paid invoice of a subscription's cycle, also one over nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renew {
    /// The order to make of it, derived from the invoice: the same invoice is heard once.
    pub order: OrderSerial,
    /// The tier that it pays.
    pub terms: Terms,
    /// The payment.
    pub payment: Payment,
    /// The subscription and its new cycle.
    pub billing: Billing,
}

impl Wallet {
    /// Decides what a paid cycle brings. The invoice of a cycle before the current one came late: it
    /// brings its credits and ends nothing. What that of a subscription that is over brings ends at once.
    #[must_use]
    pub fn renew(&self, command: Renew, archived: Archived<'_>, now: Timestamp) -> Vec<Event> {
        let Renew {
            order,
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
        let renewed = known.filter(|known| {
            known.is_current() && known.current_period_end <= billing.current_period_end
        });
        if renewed.is_some() {
            draft.end_cycle(id);
        }
        let placed = PlaceOrder {
            order,
            terms: terms.clone(),
            checkout: None,
            email: None,
        };
        draft.place(OrderKind::Renewal, placed);
        draft.fulfil(order, payment, Some(&billing));
        // As its cycle's end left it.
        let renewed = renewed.and_then(|_| draft.wallet.subscription(id).cloned());
        match renewed {
            Some(known) => draft.begin_cycle(known, order, terms, &billing),
            None => draft.start(order, terms, billing, archived),
        }
        draft.finish()
    }
}

impl Draft {
    /// Ends what a subscription's paid cycles left, before new credits need the room. Its events
    /// come now, not with the next look at the clock.
    pub(super) fn end_cycle(&mut self, subscription: &SubscriptionId) {
        self.push(Change::CycleEnded {
            subscription: subscription.clone(),
            ends_at: self.now,
        });
        self.catch_up();
    }

    fn begin_cycle(
        &mut self,
        mut subscription: Subscription,
        order: OrderSerial,
        terms: Terms,
        billing: &Billing,
    ) {
        subscription.order = order;
        subscription.reversed = self.is_reversed(order);
        subscription.granted = BTreeMap::from([(terms.fills, terms.credits)]);
        subscription.current_period_end = billing.current_period_end;
        // What the provider said after this payment stays said.
        if billing.reported_at >= subscription.reported_at {
            subscription.terms = terms;
            subscription.status = SubscriptionStatus::Active;
            subscription.past_due_since = None;
            subscription.grace_ends_at = None;
            subscription.reported_at = billing.reported_at;
        }
        let id = subscription.id.clone();
        self.push(Change::SubscriptionChanged(Box::new(SubscriptionChanged {
            news: Some(SubscriptionNews::Renewed),
            subscription,
        })));
        self.raise(&id);
    }
}
