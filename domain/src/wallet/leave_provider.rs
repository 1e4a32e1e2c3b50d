//! The end of what a wallet has open with a provider that its project has no more: nobody will say any
//! more how it went on. Credits that were paid for stay, but for those that end with a cycle.

use super::{
    Archived, Event, Wallet, order::Stage, subscription::SubscriptionStatus,
    update_subscription::UpdateSubscription,
};
use crate::{id::OrderSerial, text::SubscriptionId, time::Timestamp};

/// What waits for a provider to say how it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Open {
    /// Orders that are not settled.
    pub orders: Vec<OrderSerial>,
    /// Subscriptions that are not over.
    pub subscriptions: Vec<SubscriptionId>,
}

impl Wallet {
    /// All that is open with the provider.
    #[must_use]
    pub fn open_with_provider(&self) -> Open {
        let pending = self.orders().filter(|(_, o)| o.stage == Stage::Pending);
        Open {
            orders: pending.map(|(serial, _)| serial).collect(),
            subscriptions: self.subscriptions().map(|s| s.id.clone()).collect(),
        }
    }

    /// Decides the end of a subscription that nobody reports on any more. One that is over stays as it is.
    #[must_use]
    pub fn end_subscription(&self, id: &SubscriptionId, now: Timestamp) -> Vec<Event> {
        let Some(known) = self.subscription(id) else {
            return Vec::new();
        };
        let report = UpdateSubscription {
            subscription: id.clone(),
            terms: None,
            status: SubscriptionStatus::Canceled,
            current_period_end: known.current_period_end,
            cancel_at_period_end: known.cancel_at_period_end,
            grace_days: 0,
            // Whatever was the last to be said: it may be dated by a clock that was ahead of ours.
            reported_at: known.reported_at,
        };
        self.update_subscription(report, Archived::default(), now)
    }
}
