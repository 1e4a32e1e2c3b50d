//! A wallet's part in reading its ledger: what is not folded yet, and where the rest is. The folded
//! part is read outside, so that a long history never holds up a deduction.

use std::sync::Arc;

use domain::{
    history::Record,
    id::{WalletId, WalletKey},
};
use persistence::History;

use super::{Caller, Rules, state::WalletState};
use crate::answer::{Error, LedgerQuery};

/// What the wallet itself knows of a page.
pub(crate) struct LedgerParts {
    pub(crate) wallet: WalletId,
    /// The wallet that the orders in it belong to.
    pub(crate) key: WalletKey,
    /// Matching records, newest first, one more than asked for if there are so many.
    pub(crate) recent: Vec<Record>,
    /// Where to read on.
    pub(crate) history: Arc<dyn History>,
    /// Only records with numbers below this.
    pub(crate) below: u64,
}

impl WalletState {
    pub(super) fn ledger(
        &mut self,
        caller: Caller,
        rules: &Rules,
        query: &LedgerQuery,
    ) -> Result<LedgerParts, Error> {
        self.up_to_date(caller, rules)?;
        let wallet = self
            .wallet
            .as_ref()
            .ok_or(domain::Rejection::WalletNotFound)?;
        let before = query.before.unwrap_or(u64::MAX);
        let recent: Vec<_> = self
            .recent
            .newest_first(before)
            .filter(|record| query.wants(record))
            .take(query.limit.saturating_add(1))
            .cloned()
            .collect();
        let below = self
            .recent
            .first()
            .map_or(before, |first| first.min(before));
        Ok(LedgerParts {
            wallet: wallet.id,
            key: self.key,
            recent,
            history: Arc::clone(&self.history),
            below,
        })
    }
}

impl LedgerQuery {
    /// Whether a record is a ledger entry that was asked for.
    pub(crate) fn wants(&self, record: &Record) -> bool {
        record.entry().is_some_and(|entry| {
            self.product.is_none_or(|product| product == entry.product)
                && self.reason.is_none_or(|reason| reason == entry.reason)
        })
    }
}
