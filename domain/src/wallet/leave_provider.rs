//! The end of what a wallet has open with a provider that its project has no more: nobody will say any
//! more how it went on. Credits that were paid for stay, but for those that end with a cycle.

use super::{Archived, Event, Wallet, draft::Draft, order::Stage};
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
        let mut draft = Draft::on(self, None, Some(id), Archived::default(), now);
        draft.end_subscription(known.clone());
        draft.finish()
    }
}
