//! The provider's reports about a subscription other than its payments: another tier, a missing payment, a pause, a
//! cancellation, its end. A report brings no credits and begins no cycle; only a payment does, so that their order does
//! not matter.

use super::{decision::DecisionBuilder, payment::PaidCycle};
use crate::{
    id::OrderSerial,
    terms::Terms,
    text::SubscriptionId,
    time::{DAY_SECONDS, Timestamp},
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event, SubscriptionEvent},
        order::{OrderKind, Stage},
        subscription::{OpenInvoice, Subscription, SubscriptionStatus},
    },
};

/// A subscription as the provider reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateSubscription {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// The checkout order that began it, if reported.
    pub first: Option<OrderSerial>,
    /// The tier billed now; `None` if the catalog does not have it: then the former one stays.
    pub terms: Option<Terms>,
    /// The subscription's status.
    pub status: SubscriptionStatus,
    /// The unpaid invoice that the buyer can pay.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether payments for it are not collected at present.
    pub collection_paused: bool,
    /// When the running period ends, paid or not.
    pub current_period_end: Timestamp,
    /// Whether the subscription ends with that period.
    pub cancel_at_period_end: bool,
    /// Days for which it keeps its features while a payment is missing.
    pub grace_days: u32,
    /// When the provider reported this.
    pub reported_at: Timestamp,
}

impl Wallet {
    /// Decides what a report changes. Only a payment starts an unknown subscription; an end reported before that is
    /// kept until the payment. If the first payment failed, the provider retries it; until then the wallet has the
    /// subscription as past due, and it unlocks nothing.
    #[must_use]
    pub fn update_subscription(
        &self,
        report: UpdateSubscription,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let id = report.subscription.clone();
        let Some(existing) = self.subscription(&id) else {
            let ended = report.status == SubscriptionStatus::Canceled;
            if ended && !archived.subscription_over {
                let mut decision = DecisionBuilder::on(self, None, Some(&id), archived, now);
                decision.push(Change::SubscriptionGone {
                    subscription: report.subscription,
                });
                return decision.finish();
            }
            if report.status == SubscriptionStatus::PastDue && !archived.subscription_over {
                return self.begin_past_due(report, archived, now);
            }
            return Vec::new();
        };
        if !existing.is_current() || report.reported_at < existing.reported_at {
            return Vec::new();
        }
        let next = existing.after(report, now);
        if next == *existing {
            return Vec::new();
        }
        let over = next.status == SubscriptionStatus::Canceled;
        let mut decision = DecisionBuilder::on(self, None, Some(&id), archived, now);
        decision.push_subscription(existing.subscription_event(&next), next);
        if over {
            decision.end_cycle(&existing.id);
        }
        decision.finish()
    }
}

impl Wallet {
    fn begin_past_due(
        &self,
        report: UpdateSubscription,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let first = report.first.and_then(|it| self.any_order(it, archived));
        let first = first.filter(|it| it.kind == OrderKind::Checkout && it.terms.recurs());
        let Some(first) = first.filter(|it| it.stage != Stage::Paid) else {
            return Vec::new();
        };
        let billing = PaidCycle {
            subscription: report.subscription.clone(),
            invoice: None,
            cycle_start: Timestamp(0),
            current_period_end: report.current_period_end,
            trial: false,
            after_end: false,
            paused: false,
            reported_at: report.reported_at,
        };
        let id = report.subscription.clone();
        let began = Subscription::started(first.terms.clone(), &billing);
        let mut decision = DecisionBuilder::on(self, None, Some(&id), archived, now);
        decision.push_subscription(Some(SubscriptionEvent::PastDue), began.after(report, now));
        decision.finish()
    }
}

impl Subscription {
    fn after(&self, report: UpdateSubscription, now: Timestamp) -> Self {
        let UpdateSubscription {
            subscription,
            first: _,
            terms,
            status,
            open_invoice,
            collection_paused,
            current_period_end,
            cancel_at_period_end,
            grace_days,
            reported_at,
        } = report;
        let grace = i64::from(grace_days).saturating_mul(DAY_SECONDS);
        // The grace period is counted once, however often the payment fails.
        let (past_due_since, grace_ends_at) = match status {
            SubscriptionStatus::PastDue => (
                self.past_due_since.or(Some(now)),
                self.grace_ends_at.or(Some(now.plus_seconds(grace))),
            ),
            SubscriptionStatus::Active
            | SubscriptionStatus::Paused
            | SubscriptionStatus::Canceled => (None, None),
        };
        Self {
            id: subscription,
            reported_tier: terms.map(Box::new).or_else(|| self.reported_tier.clone()),
            status,
            open_invoice: open_invoice.filter(|_| status == SubscriptionStatus::PastDue),
            collection_paused,
            current_period_end,
            cancel_at_period_end,
            past_due_since,
            grace_ends_at,
            reported_at,
            ..self.clone()
        }
    }

    /// The project event when this becomes `next`, if anything visible changes.
    pub(super) fn subscription_event(&self, next: &Self) -> Option<SubscriptionEvent> {
        let visible = |s: &Self| {
            let end = (s.current_period_end, s.cancel_at_period_end);
            (s.status, s.collection_paused, end)
        };
        match next.status {
            SubscriptionStatus::Canceled => Some(SubscriptionEvent::Canceled),
            SubscriptionStatus::PastDue if self.status != SubscriptionStatus::PastDue => {
                Some(SubscriptionEvent::PastDue)
            }
            SubscriptionStatus::Active
            | SubscriptionStatus::PastDue
            | SubscriptionStatus::Paused => {
                let same = visible(self) == visible(next) && self.tier() == next.tier();
                (!same).then_some(SubscriptionEvent::Updated)
            }
        }
    }
}
