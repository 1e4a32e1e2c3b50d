//! What the provider says about a subscription apart from its payments: another tier, a payment that
//! is missing, a pause, a cancellation, its end. It brings no credits and begins no cycle: only what is
//! paid for does, so that it does not matter which of the two is heard of first.

use super::{
    Archived, Change, Event, Wallet,
    draft::Draft,
    event::SubscriptionNews,
    subscription::{Subscription, SubscriptionStatus},
};
use crate::{terms::Terms, text::SubscriptionId, time::Timestamp};

pub(super) const DAY_SECONDS: i64 = 86_400;

/// A subscription as the provider reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateSubscription {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// The tier that is billed now; `None`: one that the catalog does not know, the former one stays.
    pub terms: Option<Terms>,
    /// How it stands.
    pub status: SubscriptionStatus,
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
    /// only by a payment; that it ended is kept for when its payment is heard of.
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

impl Subscription {
    fn after(&self, report: UpdateSubscription, now: Timestamp) -> Self {
        let UpdateSubscription {
            subscription,
            terms,
            status,
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
        let seen = |s: &Self| (s.status, s.current_period_end, s.cancel_at_period_end);
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
