//! A subscription lapses if its period ended and the provider gives no answer about it: it becomes past due, and
//! unlocks nothing after the grace period. It is not canceled, because only the provider can report that; any later
//! report overrides this.

use super::decision::DecisionBuilder;
use crate::{
    text::SubscriptionId,
    time::{DAY_SECONDS, Timestamp},
    wallet::state::{
        Wallet,
        archive::Archive,
        event::Event,
        subscription::{Subscription, SubscriptionStatus},
    },
};

/// How long after the end of a period its renewal may still be reported: the invoice may take an hour, its report
/// longer.
pub const LAPSE_DELAY_SECONDS: i64 = DAY_SECONDS;

/// The provider was asked about a subscription and did not answer, or does not know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lapse {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// Days for which it keeps its features while a payment is missing.
    pub grace_days: u32,
}

impl Wallet {
    /// Decides whether the subscription becomes past due: it does if its period ended longer ago than the days of
    /// grace.
    #[must_use]
    pub fn lapse(&self, command: &Lapse, archived: Archive<'_>, now: Timestamp) -> Vec<Event> {
        let id = &command.subscription;
        let subscription = self.subscription(id);
        let Some(subscription) =
            subscription.filter(|subscription| subscription.status == SubscriptionStatus::Active)
        else {
            return Vec::new();
        };
        let ended = subscription.current_period_end;
        let grace = i64::from(command.grace_days).saturating_mul(DAY_SECONDS);
        let grace_ends_at = ended.plus_seconds(grace);
        if now < grace_ends_at.max(ended.plus_seconds(LAPSE_DELAY_SECONDS)) {
            return Vec::new();
        }
        let next = Subscription {
            status: SubscriptionStatus::PastDue,
            past_due_since: Some(ended),
            grace_ends_at: Some(grace_ends_at),
            ..subscription.clone()
        };
        let mut decision = DecisionBuilder::on(self, None, Some(id), archived, now);
        decision.push_subscription(subscription.subscription_event(&next), next);
        decision.finish()
    }
}
