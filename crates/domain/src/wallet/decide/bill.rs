//! A paid invoice of a subscription after its first one. It pays for a whole cycle or for switches within one; the same
//! rule grants the credits, in any order of reports.

use super::{
    cycle::CyclePosition,
    decision::DecisionBuilder,
    payment::{CycleGrant, PaidCycle, Payment, credits},
    place_order::{PlaceOrder, UNKNOWN_CODE},
    switch::{Proration, Switches},
};
use crate::{
    Quantity, Rejection,
    id::OrderSerial,
    terms::Terms,
    text::SubscriptionId,
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event, SubscriptionEvent},
        order::OrderKind,
        subscription::{Step, Subscription, TierSwitch},
    },
};

/// A paid invoice, which may be over 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bill {
    /// The order that it becomes. Its serial is derived from the invoice, so that each invoice counts once.
    pub order: OrderSerial,
    /// What it pays for.
    pub pays: Pays,
    /// Whether it is for an add-on, which brings credits and changes no tier.
    pub is_add_on: bool,
    /// The tier that it pays for; `None` if the catalog does not have it: then the tier in force counts.
    pub terms: Option<Terms>,
    /// The quantity of that tier, such as seats.
    pub quantity: Quantity,
    /// The payment of the invoice.
    pub payment: Payment,
    /// The subscription, and the cycle that the invoice is for.
    pub billing: PaidCycle,
}

/// What an invoice pays for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pays {
    /// The next cycle.
    Cycle,
    /// A new cycle that a switch began: from monthly to yearly, or from free to paid.
    NewCycle,
    /// Switches within the cycle.
    Switches(Vec<Proration>),
    /// Switches within the previous cycle, billed with this one.
    PriorSwitches(Vec<Proration>),
}

impl Pays {
    const fn kind(&self) -> OrderKind {
        match self {
            Self::Cycle => OrderKind::Renewal,
            Self::NewCycle | Self::Switches(_) | Self::PriorSwitches(_) => OrderKind::Switch,
        }
    }
}

pub(super) struct Switched {
    switches: Switches,
    steps: Vec<Step>,
    at: Timestamp,
}

impl Bill {
    /// The switches that it pays for; `None` if it pays for a whole cycle.
    fn switched(&self, terms: &Terms) -> Option<Switched> {
        let (switches, at) = match &self.pays {
            Pays::Cycle | Pays::NewCycle => return None,
            Pays::Switches(lines) => {
                let cycle = self.billing.cycle();
                let last = lines.iter().map(|line| line.at).max();
                let switches = Switches::of(lines, terms.fills, cycle);
                (switches, last.unwrap_or(cycle.end))
            }
            // The cycle of these switches is over: no time of it is left.
            Pays::PriorSwitches(_) => (Switches::default(), self.billing.cycle_start),
        };
        let mut steps = switches.steps(self.order, terms.fills);
        if steps.is_empty() {
            steps.push(self.no_step(terms, at));
        }
        Some(Switched {
            switches,
            steps,
            at,
        })
    }

    /// A switch that changes nothing. It records that something of the cycle was paid.
    const fn no_step(&self, tier: &Terms, at: Timestamp) -> Step {
        Step {
            order: self.order,
            product: tier.fills,
            from: tier.credits,
            to: tier.credits,
            at,
            until: at,
            reversed: false,
        }
    }

    fn credits(
        &self,
        terms: &Terms,
        switched: Option<&Switched>,
        cycle: Option<&Subscription>,
    ) -> i64 {
        let free = self.billing.paused && self.payment.amount_cents <= 0;
        match (&self.pays, switched) {
            (Pays::PriorSwitches(lines), _) => Proration::credits(lines.iter(), terms.fills),
            (_, None) => credits(terms, &self.payment, &self.billing),
            (_, Some(_)) if self.billing.trial || free => 0,
            (_, Some(switched)) => {
                let (steps, whole) = (&switched.steps, self.billing.cycle());
                switched.switches.credits(steps, whole, cycle)
            }
        }
    }
}

impl Wallet {
    /// Decides what a paid invoice brings. Credits for a past cycle expire at once, as if the invoice had been reported
    /// in time; so do credits for a subscription that is over, unless it was paid only after its end: then they last
    /// for the paid period.
    /// # Errors
    /// [`Rejection::SubscriptionNotFound`] if the catalog does not have its tier, and none is in force.
    pub fn bill(
        &self,
        bill: Bill,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        if self.any_order(bill.order, archived).is_some() {
            return Ok(Vec::new());
        }
        let (order, id) = (bill.order, &bill.billing.subscription);
        let in_force = self
            .subscription(id)
            .map(|subscription| subscription.tier().clone());
        // The tier in force already includes its quantity.
        let (sold, quantity) = match bill.terms.clone() {
            Some(terms) => (terms, bill.quantity),
            None => {
                let in_force = in_force.filter(|_| !bill.is_add_on);
                let in_force = in_force.ok_or(Rejection::SubscriptionNotFound)?;
                (in_force, Quantity::ONE)
            }
        };
        let terms = sold.clone().many(quantity);
        let mut decision = DecisionBuilder::on(self, Some(order), Some(id), archived, now);
        let late = bill.billing.after_end;
        if let Some(subscription) = self.subscription(id).filter(|_| late) {
            decision.end_subscription(subscription.clone());
        }
        let has_ended = late || archived.subscription_over;
        let subscription = decision.wallet.subscription(id);
        let mut switched = bill.switched(&terms);
        let at = switched.as_ref().map(|switched| switched.at);
        // An add-on has no cycle of its own: it belongs to the tier's cycle that its invoice names.
        let at = at.or_else(|| bill.is_add_on.then_some(bill.billing.cycle_start));
        let position =
            subscription.map(|subscription| subscription.position_of(at, bill.billing.cycle()));
        let is_of_cycle = position == Some(CyclePosition::Current) && !bill.is_add_on;
        let cycle = subscription.filter(|_| is_of_cycle);
        let credits = bill.credits(&terms, switched.as_ref(), cycle);
        if let Some(switched) = switched.as_mut().filter(|_| credits >= 0) {
            let down = switched.switches.steps_down(order, terms.fills);
            switched.steps.extend(down);
        }
        let credits = credits.max(0);
        if position == Some(CyclePosition::Next) {
            decision.end_cycle(id);
        }
        let ends = (has_ended || position == Some(CyclePosition::Past)).then_some(match late {
            true => bill.billing.current_period_end,
            false => now,
        });
        let placed = PlaceOrder {
            quantity,
            ..PlaceOrder::from_invoice(order, sold)
        };
        decision.place(bill.pays.kind(), UNKNOWN_CODE, placed);
        let grant = CycleGrant { credits, ends };
        decision.fulfil(order, bill.payment.clone(), Some(&bill.billing), grant);
        match (ends, bill.is_add_on) {
            (Some(_), _) => {}
            (None, true) => decision.begin_cycle_of_add_on(&bill, position),
            (None, false) => decision.update_by(&bill, terms, switched, position),
        }
        Ok(decision.finish())
    }
}

impl DecisionBuilder {
    /// Updates the subscription by a paid invoice. The first report about a cycle begins it, in the tier before its switches.
    pub(super) fn update_by(
        &mut self,
        bill: &Bill,
        terms: Terms,
        switched: Option<Switched>,
        position: Option<CyclePosition>,
    ) {
        let (order, billing) = (bill.order, &bill.billing);
        let first_tier = match &bill.pays {
            Pays::Switches(lines) => Proration::first_tier(lines),
            Pays::Cycle | Pays::NewCycle | Pays::PriorSwitches(_) => None,
        };
        let first_tier = first_tier.unwrap_or_else(|| terms.clone());
        let former = self.wallet.subscription(&billing.subscription).cloned();
        let former_tier = former.as_ref().map(|former| former.tier().clone());
        let is_new_cycle = position != Some(CyclePosition::Current);
        let mut next = match former {
            Some(former) if is_new_cycle => former.next_cycle(first_tier.clone(), billing.cycle()),
            Some(former) => former,
            None => Subscription::started(first_tier.clone(), billing),
        };
        next.customer = bill.payment.customer.clone().or(next.customer);
        let reversed = self.is_reversed(order);
        let is_whole_cycle = switched.is_none();
        if let Some(switched) = switched {
            for step in switched.steps {
                next.add_step(Step { reversed, ..step });
            }
            if let Pays::Switches(_) = bill.pays {
                let switched = TierSwitch {
                    order,
                    terms,
                    at: switched.at,
                    reversed,
                };
                next.raise_tier(switched, &first_tier);
            }
        } else {
            next = next.paid_by(order, terms, billing, reversed);
        }
        let subscription_event = match former_tier {
            None => Some(SubscriptionEvent::Started),
            Some(_) if is_new_cycle => Some(SubscriptionEvent::Renewed),
            Some(_) if is_whole_cycle => Some(SubscriptionEvent::Updated),
            Some(former_tier) => {
                (former_tier != *next.tier()).then_some(SubscriptionEvent::Updated)
            }
        };
        self.push_subscription(subscription_event, next);
    }

    /// Begins the cycle of an add-on with the tier in force, if the tier's own payment is not reported yet.
    fn begin_cycle_of_add_on(&mut self, bill: &Bill, position: Option<CyclePosition>) {
        let existing = self.wallet.subscription(&bill.billing.subscription);
        let Some(existing) = existing.filter(|_| position == Some(CyclePosition::Next)) else {
            return;
        };
        let (tier, cycle) = (existing.tier().clone(), bill.billing.cycle());
        let mut next = existing.clone().next_cycle(tier.clone(), cycle);
        next.add_step(bill.no_step(&tier, cycle.start));
        self.push_subscription(Some(SubscriptionEvent::Renewed), next);
    }

    pub(super) fn end_subscription(&mut self, subscription: Subscription) {
        let id = subscription.id.clone();
        self.push_subscription(Some(SubscriptionEvent::Canceled), subscription.canceled());
        self.end_cycle(&id);
    }

    /// Expires the credits left of a subscription's paid cycles now rather than at the next catch-up, so that they
    /// leave room for new ones.
    pub(super) fn end_cycle(&mut self, subscription: &SubscriptionId) {
        self.push(Change::CycleEnded {
            subscription: subscription.clone(),
            ends_at: self.now,
        });
        self.catch_up();
    }
}
