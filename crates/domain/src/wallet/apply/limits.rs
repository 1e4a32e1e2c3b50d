//! Applies what limits count.

use crate::{
    id::ProductId,
    limit::{Counted, Limit},
    time::Timestamp,
    wallet::state::{
        Wallet,
        limits::{Use, WalletLimits},
    },
};

impl Wallet {
    /// Counts a use in its windows; returns what records keep of it.
    pub(super) fn count(
        &mut self,
        counted: Option<Box<Counted>>,
        product: ProductId,
        change: Use,
        at: Timestamp,
    ) -> Option<Box<Counted>> {
        let counted = counted?;
        if !counted.counts.is_empty() {
            let limits = self.limits.get_or_insert_default();
            limits.count(&counted, product, change, (at, self.version));
        }
        Some(counted.kept())
    }

    /// Replaces the wallet's own limits. What counters counted for none of these or the `others` is forgotten.
    pub(super) fn set_own_limits(&mut self, own: Vec<Limit>, others: &[Limit]) {
        let mut counters = self.limits.take().unwrap_or_default().counters;
        counters.retain(|key, _| own.iter().chain(others).any(|limit| key.is_of(limit)));
        if !own.is_empty() || !counters.is_empty() {
            self.limits = Some(Box::new(WalletLimits { own, counters }));
        }
    }
}
