//! A wallet's part in reading its ledger: unfolded records, and access to the rest, which is read outside of its turn,
//! so that a long history never delays a deduction.

use std::sync::Arc;

use domain::{
    history::Record,
    id::{WalletId, WalletKey},
    time::Span,
};
use persistence::History;

use super::{Command, Turn, state::unreadable};
use crate::answer::{Error, LedgerQuery};

/// A query of a wallet's history, newest first.
#[derive(Clone)]
pub(crate) struct RecordQuery {
    /// Only records with numbers below this.
    pub(crate) before: Option<u64>,
    pub(crate) limit: usize,
    pub(crate) within: Span,
    pub(crate) wants: Arc<dyn Fn(&Record) -> bool + Send + Sync>,
}

/// The part of a page in memory, and access to the rest.
pub(crate) struct RecentLedger {
    pub(crate) wallet: WalletId,
    /// The wallet that the orders in it belong to.
    pub(crate) key: WalletKey,
    /// Matching records, newest first, at most one more than the limit.
    pub(crate) recent: Vec<Record>,
    pub(crate) history: Arc<dyn History>,
    /// The number below which folded records continue.
    pub(crate) below: u64,
}

impl Command for RecordQuery {
    type Answer = RecentLedger;

    fn run(self, turn: &mut Turn<'_>) -> Result<RecentLedger, Error> {
        let wallet = turn.wallet()?;
        let (recent, history) = turn.history();
        let before = self.before.unwrap_or(u64::MAX);
        let below = recent.first().map_or(before, |first| first.min(before));
        let recent = recent
            .newest_first(before)
            .filter(|record| record.as_ref().map_or(true, |record| self.matches(record)))
            .take(self.limit.saturating_add(1))
            .collect::<Result<_, _>>()
            .map_err(|error| unreadable(&wallet.key, &error))?;
        Ok(RecentLedger {
            wallet: wallet.id,
            key: wallet.key,
            recent,
            history: Arc::clone(history),
            below,
        })
    }
}

impl RecordQuery {
    pub(crate) fn matches(&self, record: &Record) -> bool {
        self.within.contains(record.at) && (self.wants)(record)
    }
}

impl LedgerQuery {
    /// The query of the records behind these entries.
    pub(crate) fn records(self) -> RecordQuery {
        RecordQuery {
            before: self.before,
            limit: self.limit,
            within: self.within,
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
