//! What the provider says about a subscription apart from its payments: another tier, a payment that
//! is missing, a pause, a cancellation, its end. It brings no credits and begins no cycle: only what is
//! paid for does, so that it does not matter which of the two is heard of first.

use super::{
    Archived, Change, Event, Wallet,
    draft::Draft,
    event::SubscriptionNews,
    order::{OrderKind, Stage},
    pay::Billing,
    subscription::{OpenInvoice, Subscription, SubscriptionStatus},
};
use crate::{id::OrderSerial, terms::Terms, text::SubscriptionId, time::Timestamp};

pub(super) const DAY_SECONDS: i64 = 86_400;

/// A subscription as the provider reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateSubscription {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// The checkout that began it, where that is told.
    pub first: Option<OrderSerial>,
    /// The tier that is billed now; `None`: one that the catalog does not know, the former one stays.
    pub terms: Option<Terms>,
    /// How it stands.
    pub status: SubscriptionStatus,
    /// The bill that waits for the buyer.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether nothing is collected for it for the time being.
    pub collection_paused: bool,
    /// When the running period ends, whether or not it is paid.
    pub current_period_end: Timestamp,
    /// Whether it ends with that cycle.
    pub cancel_at_period_end: bool,
    /// Days for which it keeps its features while a payment is missing.
    pub grace_days: u32,
    /// When the provider reported this.
    pub reported_at: Timestamp,
}

impl Wallet {
    /// Decides what a report changes. A subscription that is not known is not started by a report,
    /// only by a payment; that it ended is kept for when its payment is heard of. One whose first payment
    /// failed after all runs on at the provider until that gives it up: it is there, and unlocks nothing.
    #[must_use]
    pub fn update_subscription(
        &self,
        report: UpdateSubscription,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let id = report.subscription.clone();
        let Some(known) = self.subscription(&id) else {
            let ended = report.status == SubscriptionStatus::Canceled;
            if ended && !archived.subscription_over {
                let mut draft = Draft::on(self, None, Some(&id), archived, now);
                draft.push(Change::SubscriptionGone {
                    subscription: report.subscription,
                });
                return draft.finish();
            }
            if report.status == SubscriptionStatus::PastDue && !archived.subscription_over {
                return self.owe(report, archived, now);
            }
            return Vec::new();
        };
        if !known.is_current() || report.reported_at < known.reported_at {
            return Vec::new();
        }
        let next = known.after(report, now);
        if next == *known {
            return Vec::new();
        }
        let over = next.status == SubscriptionStatus::Canceled;
        let mut draft = Draft::on(self, None, Some(&id), archived, now);
        draft.push_subscription(known.news(&next), next);
        if over {
            draft.end_cycle(&known.id);
        }
        draft.finish()
    }
}

impl Wallet {
    fn owe(
        &self,
        report: UpdateSubscription,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let first = report.first.and_then(|it| self.any_order(it, archived));
        let first = first.filter(|it| it.kind == OrderKind::Checkout && it.terms.recurs());
        let Some(first) = first.filter(|it| it.stage != Stage::Paid) else {
            return Vec::new();
        };
        let billing = Billing {
            subscription: report.subscription.clone(),
            invoice: None,
            // Before all that follows, as the first payment's.
            cycle_start: Timestamp(0),
            current_period_end: report.current_period_end,
            trial: false,
            after_end: false,
            paused: false,
            reported_at: report.reported_at,
        };
        let id = report.subscription.clone();
        let began = Subscription::started(first.terms.clone(), &billing);
        let mut draft = Draft::on(self, None, Some(&id), archived, now);
        draft.push_subscription(Some(SubscriptionNews::PastDue), began.after(report, now));
        draft.finish()
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
        // The days of grace are counted once, however often the payment fails.
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
            said: terms.map(Box::new).or_else(|| self.said.clone()),
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

    /// What there is to tell about becoming `next`, if anything.
    pub(super) fn news(&self, next: &Self) -> Option<SubscriptionNews> {
        let seen = |s: &Self| {
            let ending = (s.current_period_end, s.cancel_at_period_end);
            (s.status, s.collection_paused, ending)
        };
        match next.status {
            SubscriptionStatus::Canceled => Some(SubscriptionNews::Canceled),
            SubscriptionStatus::PastDue if self.status != SubscriptionStatus::PastDue => {
                Some(SubscriptionNews::PastDue)
            }
            SubscriptionStatus::Active
            | SubscriptionStatus::PastDue
            | SubscriptionStatus::Paused => {
                let same = seen(self) == seen(next) && self.tier() == next.tier();
                (!same).then_some(SubscriptionNews::Updated)
            }
        }
    }
}
