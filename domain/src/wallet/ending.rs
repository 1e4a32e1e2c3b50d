//! What a wallet loses when a subscription of it ends now. Said to whoever is about to end it; nothing is
//! decided here.

use std::collections::BTreeSet;

use super::{CycleTag, Wallet};
use crate::{
    id::ProductId,
    text::{Feature, SubscriptionId},
    time::Timestamp,
};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ending {
    /// Credits that expire at once, with those that a hold gives back later: what is left of the cycle's, unless
    /// they roll over.
    pub credits: Vec<(ProductId, i64)>,
    /// Features that nothing else unlocks.
    pub features: Vec<String>,
}

impl Wallet {
    /// What goes with this subscription; nothing with one that is over.
    #[must_use]
    pub fn ending(&self, id: &SubscriptionId, now: Timestamp) -> Ending {
        let Some(subscription) = self.subscription(id) else {
            return Ending::default();
        };
        let cycle = CycleTag::of(&self.key, id);
        let accounts = self.accounts.iter();
        let credits = accounts.map(|account| (account.product, account.left_of(cycle)));
        let others = self.subscriptions().filter(|other| other.id != *id);
        let mut kept: BTreeSet<&Feature> = others.flat_map(|other| other.features(now)).collect();
        kept.extend(&self.features);
        kept.extend(self.unlocked_by_orders());
        let features = subscription.features(now);
        let features = features.filter(|feature| !kept.contains(feature));
        Ending {
            credits: credits.filter(|(_, left)| *left > 0).collect(),
            features: features
                .map(|feature| feature.as_str().to_owned())
                .collect(),
        }
    }
}
