//! A subscription's cycles, as its paid invoices describe them. Invoices arrive late and in any order, so the position
//! of a cycle follows from its instants alone.

use super::payment::PaidCycle;
use crate::{
    id::OrderSerial,
    terms::Terms,
    time::{Span, Timestamp},
    wallet::state::subscription::{Subscription, SubscriptionStatus},
};

/// Which cycle a payment belongs to, relative to the subscription's current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CyclePosition {
    /// An earlier cycle: its credits have expired.
    Past,
    /// The current cycle itself.
    Current,
    /// A later cycle, begun by the payment.
    Next,
}

impl PaidCycle {
    pub(super) const fn cycle(&self) -> Span {
        Span {
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
    /// Which cycle a payment belongs to: a switch by its instant, a whole cycle by its start. While only switches are
    /// known, the cycle of the last one is the current one; without any payment, the cycle of the first payment
    /// reported is.
    pub(super) fn position_of(&self, switched_at: Option<Timestamp>, cycle: Span) -> CyclePosition {
        let last = self.steps.last().filter(|_| self.order.is_none());
        match (switched_at, last) {
            (Some(at), _) if at < self.cycle_start => CyclePosition::Past,
            (Some(at), _) if at < self.cycle_end => CyclePosition::Current,
            (None, Some(existing)) if cycle.end <= existing.at => CyclePosition::Past,
            (None, Some(existing)) if cycle.start <= existing.at => CyclePosition::Current,
            (None, None) if !self.is_paid() => CyclePosition::Current,
            (None, None) if cycle.start < self.cycle_start => CyclePosition::Past,
            _ => CyclePosition::Next,
        }
    }

    pub(super) fn started(paid_tier: Terms, billing: &PaidCycle) -> Self {
        Self {
            id: billing.subscription.clone(),
            customer: None,
            paid_tier,
            tier_switch: None,
            reported_tier: None,
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
            reported_at: Timestamp(i64::MIN),
            cycles_ended: 0,
            cycle_ended_at: None,
        }
    }

    /// The subscription in its next cycle, of which only the start is known.
    pub(super) fn next_cycle(self, paid_tier: Terms, cycle: Span) -> Self {
        Self {
            paid_tier,
            order: None,
            tier_switch: None,
            reversed: false,
            steps: Vec::new(),
            cycle_start: cycle.start,
            cycle_end: cycle.end,
            ..self
        }
    }

    pub(super) fn canceled(self) -> Self {
        Self {
            status: SubscriptionStatus::Canceled,
            open_invoice: None,
            past_due_since: None,
            grace_ends_at: None,
            ..self
        }
    }

    /// The subscription with its cycle paid, and with this report's status unless a newer report is known.
    pub(super) fn paid_by(
        self,
        order: OrderSerial,
        paid_tier: Terms,
        billing: &PaidCycle,
        reversed: bool,
    ) -> Self {
        let next = Self {
            paid_tier,
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
            reported_tier: None,
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
