//! A wallet's part in reading its ledger: what is not folded yet, and where the rest is. The folded
//! part is read outside, so that a long history never holds up a deduction.

use std::sync::Arc;

use domain::{
    history::Record,
    id::{WalletId, WalletKey},
};
use persistence::History;

use super::{Turn, Verb, state::unreadable};
use crate::answer::{Error, LedgerQuery};

/// Records of a wallet's history that somebody wants, newest first.
#[derive(Clone)]
pub(crate) struct RecordQuery {
    /// Only those with smaller numbers.
    pub(crate) before: Option<u64>,
    /// At most so many.
    pub(crate) limit: usize,
    /// Which.
    pub(crate) wants: Arc<dyn Fn(&Record) -> bool + Send + Sync>,
}

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

impl Verb for RecordQuery {
    type Answer = LedgerParts;

    fn run(self, turn: &mut Turn<'_>) -> Result<LedgerParts, Error> {
        let wallet = turn.wallet()?;
        let (recent, history) = turn.history();
        let before = self.before.unwrap_or(u64::MAX);
        let below = recent.first().map_or(before, |first| first.min(before));
        let recent = recent
            .newest_first(before)
            .filter(|record| record.as_ref().map_or(true, |record| (self.wants)(record)))
            .take(self.limit.saturating_add(1))
            .collect::<Result<_, _>>()
            .map_err(|error| unreadable(&wallet.key, &error))?;
        Ok(LedgerParts {
            wallet: wallet.id,
            key: wallet.key,
            recent,
            history: Arc::clone(history),
            below,
        })
    }
}

impl LedgerQuery {
    /// The records that hold what was asked for.
    pub(crate) fn records(self) -> RecordQuery {
        RecordQuery {
            before: self.before,
            limit: self.limit,
            wants: Arc::new(move |record| self.wants(record)),
        }
    }

    fn wants(&self, record: &Record) -> bool {
        record.entry().is_some_and(|entry| {
            self.product.is_none_or(|product| product == entry.product)
                && self.reason.is_none_or(|reason| reason == entry.reason)
        })
    }
}
