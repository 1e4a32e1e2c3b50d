//! What a wallet loses if one of its subscriptions ends now, to be shown before it is ended. Nothing is decided
//! here.

use std::collections::BTreeSet;

use crate::{
    id::ProductId,
    text::{Feature, SubscriptionId},
    time::Timestamp,
    wallet::state::{Wallet, lots::CycleTag},
};

/// What a wallet loses with a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CancellationEffects {
    /// The cycle's credits that are left, unless they roll over. They expire at once, those in holds when they are
    /// given back.
    pub credits: Vec<(ProductId, i64)>,
    /// Features that nothing else unlocks.
    pub features: Vec<String>,
}

impl Wallet {
    /// What the wallet loses if this subscription ends now; nothing if it is over already.
    #[must_use]
    pub fn cancellation_effects(&self, id: &SubscriptionId, now: Timestamp) -> CancellationEffects {
        let Some(subscription) = self.subscription(id) else {
            return CancellationEffects::default();
        };
        let cycle = CycleTag::of(&self.key, id);
        let accounts = self.accounts.iter();
        let credits = accounts.map(|account| (account.product, account.left_of(cycle)));
        let others = self.subscriptions().filter(|other| other.id != *id);
        let mut remaining: BTreeSet<&Feature> =
            others.flat_map(|other| other.features(now)).collect();
        remaining.extend(&self.features);
        remaining.extend(self.unlocked_by_orders());
        let features = subscription.features(now);
        let features = features.filter(|feature| !remaining.contains(feature));
        CancellationEffects {
            credits: credits.filter(|(_, left)| *left > 0).collect(),
            features: features
                .map(|feature| feature.as_str().to_owned())
                .collect(),
        }
    }
}
