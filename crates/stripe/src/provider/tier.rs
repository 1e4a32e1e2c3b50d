//! Reads tier, status and time of a subscription and its invoices.

use domain::{id::PriceId, time::Timestamp, wallet::SubscriptionStatus as Status};

use crate::{
    invoices::Invoice,
    subscriptions::{Subscription, SubscriptionItem, SubscriptionStatus},
};

/// The subscription item that one of our prices bills.
pub(super) struct Tier<'a> {
    /// The item, or the first one if none is ours.
    pub(super) item: Option<&'a SubscriptionItem>,
    pub(super) price: Option<PriceId>,
}

/// Whether an invoice was paid only after its subscription had ended.
pub(super) fn is_after_end(subscription: &Subscription, invoice: &Invoice) -> bool {
    let ended = subscription.ended_at;
    ended.is_some_and(|ended| invoice.paid_at() > ended)
}

/// A subscription's status for its wallet. One whose first payment never came is canceled.
pub(super) fn status(subscription: &Subscription) -> Option<Status> {
    match subscription.status {
        SubscriptionStatus::Active | SubscriptionStatus::Trialing => Some(Status::Active),
        SubscriptionStatus::PastDue | SubscriptionStatus::Unpaid => Some(Status::PastDue),
        SubscriptionStatus::Paused => Some(Status::Paused),
        SubscriptionStatus::Canceled | SubscriptionStatus::IncompleteExpired => {
            Some(Status::Canceled)
        }
        SubscriptionStatus::Other => None,
    }
}

/// Converts Stripe's seconds since the Unix epoch.
pub(super) fn instant(seconds: i64) -> Timestamp {
    Timestamp(seconds.saturating_mul(1000))
}
