//! A subscription's cycles, as the invoices that pay them say it. They are heard of late and in any
//! order: where one belongs follows from its instants alone.

use super::{
    Change,
    draft::Draft,
    pay::Billing,
    subscription::{Subscription, SubscriptionStatus},
};
use crate::{terms::Terms, text::SubscriptionId, time::Timestamp};

/// From when to when a cycle lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cycle {
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
}

/// Where something belongs, as seen from the cycle that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A cycle before it: what it brings is over.
    Over,
    /// The cycle itself.
    Current,
    /// A cycle after it, which it begins.
    Next,
}

impl Billing {
    pub(super) const fn cycle(&self) -> Cycle {
        Cycle {
            start: self.cycle_start,
            end: self.current_period_end,
        }
    }
}

impl Subscription {
    /// Where something belongs that happened within a cycle.
    pub(super) fn place_of(&self, at: Timestamp) -> Place {
        if at < self.cycle_start {
            Place::Over
        } else if at < self.cycle_end {
            Place::Current
        } else {
            Place::Next
        }
    }

    /// Where the payment of a whole cycle belongs. One of which only switches are known takes the payment
    /// of the cycle that they were made in.
    pub(super) fn place_of_payment(&self, cycle: Cycle) -> Place {
        let switched = self.steps.last().filter(|_| self.order.is_none());
        match switched {
            Some(step) if cycle.end <= step.at => Place::Over,
            Some(step) if cycle.start <= step.at => Place::Current,
            None if cycle.start < self.cycle_start => Place::Over,
            _ => Place::Next,
        }
    }

    /// A subscription that was not known, with the cycle that it is first heard of in.
    pub(super) fn started(paid: Terms, billing: &Billing) -> Self {
        Self {
            id: billing.subscription.clone(),
            customer: None,
            paid,
            switched: None,
            said: None,
            status: billing.status(),
            cycle_start: billing.cycle_start,
            cycle_end: billing.current_period_end,
            current_period_end: billing.current_period_end,
            cancel_at_period_end: false,
            past_due_since: None,
            grace_ends_at: None,
            order: None,
            reversed: false,
            steps: Vec::new(),
            // Nothing was said yet.
            reported_at: Timestamp(i64::MIN),
            cycles_ended: 0,
            cycle_ended_at: None,
        }
    }

    /// The same in its next cycle, of which nothing is known yet.
    pub(super) fn begun(self, paid: Terms, cycle: Cycle) -> Self {
        Self {
            paid,
            order: None,
            switched: None,
            reversed: false,
            steps: Vec::new(),
            cycle_start: cycle.start,
            cycle_end: cycle.end,
            ..self
        }
    }

    /// With what the bill of a cycle says besides, unless something was said since.
    pub(super) fn billed(self, billing: &Billing) -> Self {
        if billing.reported_at <= self.reported_at {
            return self;
        }
        Self {
            said: None,
            status: billing.status(),
            current_period_end: billing.current_period_end,
            cancel_at_period_end: false,
            past_due_since: None,
            grace_ends_at: None,
            reported_at: billing.reported_at,
            ..self
        }
    }
}

impl Billing {
    const fn status(&self) -> SubscriptionStatus {
        if self.paused {
            SubscriptionStatus::Paused
        } else {
            SubscriptionStatus::Active
        }
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
}
