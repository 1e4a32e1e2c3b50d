//! A paid bill of a subscription after its first: of a whole cycle, or of switches within one. The one
//! rule that brings credits for a subscription, in whatever order bills are heard of.

use super::{
    Archived, Change, Event, Wallet,
    cycle::Place,
    draft::Draft,
    event::SubscriptionNews,
    order::OrderKind,
    pay::{Billing, Grant, Payment, credits},
    place_order::PlaceOrder,
    subscription::{Subscription, Switched},
    switch::{Proration, Step},
};
use crate::{
    Quantity, Rejection, id::OrderSerial, terms::Terms, text::SubscriptionId, time::Timestamp,
};

/// A paid bill, also one over nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bill {
    /// The order to make of it, derived from the invoice: the same invoice is heard once.
    pub order: OrderSerial,
    /// What it pays for.
    pub pays: Pays,
    /// The tier that it pays; `None`: none of the catalog's, the tier in force is meant.
    pub terms: Option<Terms>,
    /// How many of that tier.
    pub quantity: Quantity,
    /// The payment.
    pub payment: Payment,
    /// The subscription, and the cycle that the bill is of.
    pub billing: Billing,
}

/// What a bill pays for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pays {
    /// The next cycle.
    Cycle,
    /// A whole new cycle that a switch began: from a month to a year, from nothing to a price.
    Anew,
    /// A switch within the cycle: from all that was had of this tier, at this instant, as the invoice's
    /// proration lines say it.
    Switch {
        /// The tier that was left, as many times as it was had.
        old: Terms,
        /// When.
        at: Timestamp,
    },
    /// Switches within the cycle before, which the bill of this one settles.
    Carried(Vec<Proration>),
}

impl Pays {
    const fn kind(&self) -> OrderKind {
        match self {
            Self::Cycle => OrderKind::Renewal,
            Self::Anew | Self::Switch { .. } | Self::Carried(_) => OrderKind::Switch,
        }
    }
}

impl Bill {
    /// What it says of the tiers within its cycle; `None`: it pays for all of it.
    fn step(&self, terms: &Terms) -> Option<Step> {
        let (old, at) = match &self.pays {
            Pays::Cycle | Pays::Anew => return None,
            Pays::Switch { old, at } => (old, *at),
            // Nothing is left of the cycle that the switches were made in.
            Pays::Carried(_) => (terms, self.billing.cycle_start),
        };
        // Credits of another product have nothing to be compared with.
        let same = old.fills == terms.fills;
        Some(Step {
            order: self.order,
            product: terms.fills,
            from: if same { old.credits } else { 0 },
            to: terms.credits,
            at,
            reversed: false,
        })
    }

    fn credits(&self, terms: &Terms, cycle: Option<&Subscription>) -> i64 {
        let free = self.billing.paused && self.payment.amount_cents <= 0;
        match (&self.pays, self.step(terms)) {
            (Pays::Carried(switches), _) => Proration::credits(switches, terms),
            (_, None) => credits(terms, &self.payment, &self.billing),
            (_, Some(_)) if self.billing.trial || free => 0,
            (_, Some(step)) => step.credits(self.billing.cycle(), cycle),
        }
    }
}

impl Wallet {
    /// Decides what a paid bill brings. What that of a cycle before the current one brings ends at once,
    /// as if it had come in time, and nothing else does; so does that of a subscription that is over,
    /// unless it was paid only after that: then it lasts for the period that it pays.
    ///
    /// # Errors
    ///
    /// [`Rejection::SubscriptionNotFound`]: it is of no tier of the catalog's, and none is in force.
    pub fn bill(
        &self,
        bill: Bill,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        if self.any_order(bill.order, archived).is_some() {
            return Ok(Vec::new());
        }
        let (order, id) = (bill.order, &bill.billing.subscription);
        let in_force = self.subscription(id).map(|known| known.tier().clone());
        // What is in force is as many times that tier as are had.
        let (sold, quantity) = match bill.terms.clone() {
            Some(terms) => (terms, bill.quantity),
            None => (
                in_force.ok_or(Rejection::SubscriptionNotFound)?,
                Quantity::ONE,
            ),
        };
        let terms = sold.clone().many(quantity);
        let mut draft = Draft::on(self, Some(order), Some(id), archived, now);
        let late = bill.billing.after_end;
        if let Some(known) = self.subscription(id).filter(|_| late) {
            draft.end_subscription(known.clone());
        }
        let gone = late || archived.subscription_over;
        let known = draft.wallet.subscription(id);
        let step = bill.step(&terms);
        let place = known.map(|known| known.place_of(step.as_ref(), bill.billing.cycle()));
        let cycle = known.filter(|_| place == Some(Place::Current));
        let credits = bill.credits(&terms, cycle);
        if place == Some(Place::Next) {
            draft.end_cycle(id);
        }
        let ends = (gone || place == Some(Place::Over)).then_some(match late {
            true => bill.billing.current_period_end,
            false => now,
        });
        let placed = PlaceOrder {
            quantity,
            ..PlaceOrder::made(order, sold)
        };
        draft.place(bill.pays.kind(), placed);
        let grant = Grant { credits, ends };
        draft.fulfil(order, bill.payment.clone(), Some(&bill.billing), grant);
        if ends.is_none() {
            draft.take(&bill, terms, step, place);
        }
        Ok(draft.finish())
    }
}

impl Draft {
    /// Brings the subscription to what the bill says of its cycle, which begins with it unless something
    /// within it was heard of before.
    pub(super) fn take(
        &mut self,
        bill: &Bill,
        terms: Terms,
        step: Option<Step>,
        place: Option<Place>,
    ) {
        let (order, billing) = (bill.order, &bill.billing);
        let base = match &bill.pays {
            Pays::Switch { old, .. } => old,
            Pays::Cycle | Pays::Anew | Pays::Carried(_) => &terms,
        };
        let low = base.clone();
        // As its cycle's end left it.
        let known = self.wallet.subscription(&billing.subscription).cloned();
        let before = known.as_ref().map(|known| known.tier().clone());
        let begun = place != Some(Place::Current);
        let mut next = match known {
            Some(known) if begun => known.begun(low.clone(), billing.cycle()),
            Some(known) => known,
            None => Subscription::started(low.clone(), billing),
        };
        next.customer = bill.payment.customer.clone().or(next.customer);
        let reversed = self.is_reversed(order);
        let whole = step.is_none();
        if let Some(step) = step {
            next.add_step(Step { reversed, ..step });
            if let Pays::Switch { at, .. } = bill.pays {
                let switched = Switched {
                    order,
                    terms,
                    at,
                    reversed,
                };
                next.climb(switched, &low);
            }
        } else {
            next = next.paid_by(order, terms, billing, reversed);
        }
        let news = match before {
            None => Some(SubscriptionNews::Started),
            Some(_) if begun => Some(SubscriptionNews::Renewed),
            Some(_) if whole => Some(SubscriptionNews::Updated),
            Some(before) => (before != *next.tier()).then_some(SubscriptionNews::Updated),
        };
        self.push_subscription(news, next);
    }

    /// A subscription that the provider gave up, and what its cycle left.
    pub(super) fn end_subscription(&mut self, known: Subscription) {
        let id = known.id.clone();
        self.push_subscription(Some(SubscriptionNews::Canceled), known.over());
        self.end_cycle(&id);
    }

    /// Ends what a subscription's paid cycles left, before new credits need the room. Its events
    /// come now, not with the next look at the clock.
    pub(super) fn end_cycle(&mut self, subscription: &SubscriptionId) {
        self.push(Change::CycleEnded {
            subscription: subscription.clone(),
            ends_at: self.now,
        });
        self.catch_up();
    }
}
