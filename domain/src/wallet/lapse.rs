//! A subscription whose period ended, and of which the provider cannot be asked: it is past due, and
//! unlocks nothing once the days of grace are over. It is not canceled: that only the provider says, and
//! any word of the provider's counts for more than this.

use super::{
    Archived, Event, Wallet,
    draft::Draft,
    subscription::{Subscription, SubscriptionStatus},
    update_subscription::DAY_SECONDS,
};
use crate::{text::SubscriptionId, time::Timestamp};

/// A renewal's invoice may take an hour, and its report some more: for so long after a period's end
/// nothing is missing.
pub const LAPSES_AFTER_SECONDS: i64 = DAY_SECONDS;

/// That the provider was asked and did not answer, or does not know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lapse {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// Days for which it keeps its features while a payment is missing.
    pub grace_days: u32,
}

impl Wallet {
    /// Decides whether that ends its features: where its period ended longer ago than the days of grace.
    #[must_use]
    pub fn lapse(&self, command: &Lapse, archived: Archived<'_>, now: Timestamp) -> Vec<Event> {
        let id = &command.subscription;
        let known = self.subscription(id);
        let Some(known) = known.filter(|known| known.status == SubscriptionStatus::Active) else {
            return Vec::new();
        };
        let ended = known.current_period_end;
        let grace = i64::from(command.grace_days).saturating_mul(DAY_SECONDS);
        let grace_ends_at = ended.plus_seconds(grace);
        if now < grace_ends_at.max(ended.plus_seconds(LAPSES_AFTER_SECONDS)) {
            return Vec::new();
        }
        let next = Subscription {
            status: SubscriptionStatus::PastDue,
            past_due_since: Some(ended),
            grace_ends_at: Some(grace_ends_at),
            ..known.clone()
        };
        let mut draft = Draft::on(self, None, Some(id), archived, now);
        draft.push_subscription(known.news(&next), next);
        draft.finish()
    }
}
