//! A subscription's cycles, as the invoices that pay them say it. They are heard of late and in any
//! order: where one belongs follows from its instants alone.

use super::{
    pay::Billing,
    subscription::{Subscription, SubscriptionStatus},
    switch::Step,
};
use crate::{id::OrderSerial, terms::Terms, time::Timestamp};

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

    const fn status(&self) -> SubscriptionStatus {
        if self.paused {
            SubscriptionStatus::Paused
        } else {
            SubscriptionStatus::Active
        }
    }
}

impl Subscription {
    /// Where a payment belongs: that of a switch by when it was made, that of a whole cycle by when that
    /// began. A subscription of which only switches are known takes the payment of the cycle that they were
    /// made in; one that was never paid takes any.
    pub(super) fn place_of(&self, step: Option<&Step>, cycle: Cycle) -> Place {
        let switched = self.steps.last().filter(|_| self.order.is_none());
        match (step, switched) {
            (Some(step), _) if step.at < self.cycle_start => Place::Over,
            (Some(step), _) if step.at < self.cycle_end => Place::Current,
            (None, Some(known)) if cycle.end <= known.at => Place::Over,
            (None, Some(known)) if cycle.start <= known.at => Place::Current,
            (None, None) if !self.is_paid() => Place::Current,
            (None, None) if cycle.start < self.cycle_start => Place::Over,
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
            open_invoice: None,
            collection_paused: false,
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

    /// The same once the provider gave it up.
    pub(super) fn over(self) -> Self {
        Self {
            status: SubscriptionStatus::Canceled,
            open_invoice: None,
            past_due_since: None,
            grace_ends_at: None,
            ..self
        }
    }

    /// The same with the payment of its cycle, and what that says besides unless something was said since.
    pub(super) fn paid_by(
        self,
        order: OrderSerial,
        paid: Terms,
        billing: &Billing,
        reversed: bool,
    ) -> Self {
        let next = Self {
            paid,
            order: Some(order),
            reversed,
            cycle_start: billing.cycle_start,
            cycle_end: billing.current_period_end,
            ..self
        };
        if billing.reported_at <= next.reported_at {
            return next;
        }
        Self {
            said: None,
            status: billing.status(),
            open_invoice: None,
            current_period_end: billing.current_period_end,
            cancel_at_period_end: false,
            past_due_since: None,
            grace_ends_at: None,
            reported_at: billing.reported_at,
            ..next
        }
    }
}
