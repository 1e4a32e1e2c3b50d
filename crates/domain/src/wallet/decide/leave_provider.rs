//! Ends what a wallet has open with a provider that its project does not use any more: no report of it will come.
//! Credits that were paid for stay, except those that end with a cycle.

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

    /// Decides the end of a subscription that no provider reports on any more. One that is over stays as it is.
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
