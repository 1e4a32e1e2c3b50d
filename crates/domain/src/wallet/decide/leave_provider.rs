//! Ends a wallet's orders and subscriptions with a provider that its project no longer uses, because no report about
//! them will come. Paid credits stay, except those that end with a cycle.

use super::decision::DecisionBuilder;
use crate::{
    id::OrderSerial,
    text::SubscriptionId,
    time::Timestamp,
    wallet::state::{Wallet, archive::Archive, event::Event, order::Stage},
};

/// Orders and subscriptions that wait for a provider's reports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Open {
    /// Orders that are pending.
    pub orders: Vec<OrderSerial>,
    /// Subscriptions that are not over.
    pub subscriptions: Vec<SubscriptionId>,
}

impl Wallet {
    /// What the wallet has open with its provider.
    #[must_use]
    pub fn open_with_provider(&self) -> Open {
        let pending = self.orders().filter(|(_, o)| o.stage == Stage::Pending);
        Open {
            orders: pending.map(|(serial, _)| serial).collect(),
            subscriptions: self.subscriptions().map(|s| s.id.clone()).collect(),
        }
    }

    /// Decides to end a subscription that no provider reports on any more; `[]` if it is over.
    #[must_use]
    pub fn end_subscription(&self, id: &SubscriptionId, now: Timestamp) -> Vec<Event> {
        let Some(existing) = self.subscription(id) else {
            return Vec::new();
        };
        let mut decision = DecisionBuilder::on(self, None, Some(id), Archive::default(), now);
        decision.end_subscription(existing.clone());
        decision.finish()
    }
}
