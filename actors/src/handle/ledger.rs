//! Reads ledgers. The wallet answers entries that are not folded yet; the rest is read here, off the runtime's threads
//! and without blocking the wallet.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    history::{Entry, Record},
    id::{ProductId, WalletId, WalletKey},
    time::Span,
};
use persistence::{
    History,
    usage::{Interval, Usage},
};

use super::{Address, Handle, Scope};
use crate::{
    answer::{Error, LedgerLine, LedgerPage, LedgerQuery, LedgerSums},
    wallet::{RecentLedger, RecordQuery},
};

/// The most records scanned for one page. A rare reason in a long history yields short pages rather than slow ones.
const MAX_SCAN: usize = 50_000;
/// The most pages summed up for one request: a second's work.
const MAX_SUM_PAGES: usize = 200;
const MAX_STEP: usize = 1024;

impl Handle {
    /// Reads a page of a wallet's ledger.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn ledger(
        &self,
        scope: &Scope,
        address: &Address,
        query: LedgerQuery,
    ) -> Result<LedgerPage, Error> {
        let matches = self.records(scope, address, query.records()).await?;
        Ok(matches.into())
    }

    /// Sums of a part of a wallet's ledger, or of its newest 200,000 entries. The query's `before` and `limit` are
    /// ignored. `day_of` gives the first instant of an instant's day.
    /// # Errors
    /// As for [`Self::ledger`].
    pub async fn ledger_sums(
        &self,
        scope: &Scope,
        address: &Address,
        query: LedgerQuery,
        day_of: impl Fn(Timestamp) -> Timestamp + Send,
    ) -> Result<LedgerSums, Error> {
        let mut sums = LedgerSums::default();
        // Entries come newest first: what is no earlier than the last one's day began is of that day.
        let mut known = None;
        let mut day = move |at| match known {
            Some((first, last)) if (first..=last).contains(&at) => first,
            _ => {
                let first = day_of(at);
                known = Some((first, at));
                first
            }
        };
        let query = LedgerQuery {
            before: None,
            // One more record than a page tells whether another page follows.
            limit: MAX_STEP - 1,
            ..query
        };
        let into = &mut sums;
        let add = move |at, entry: &Entry| into.add(day(at), at, entry);
        sums.is_complete = self.each_entry(scope, address, query, add).await?;
        Ok(sums)
    }

    /// A wallet's usage of a product by interval, within a span of time; `None`: the span has more than some 200,000
    /// entries of the wallet.
    /// # Errors
    /// As for [`Self::ledger`].
    pub async fn usage_of_wallet(
        &self,
        scope: &Scope,
        address: &Address,
        product: ProductId,
        interval: Interval,
        within: Span,
    ) -> Result<Option<BTreeMap<Timestamp, Usage>>, Error> {
        let mut usage: BTreeMap<Timestamp, Usage> = BTreeMap::new();
        // Of all products: so every page is full, and the work is bounded.
        let query = LedgerQuery {
            before: None,
            limit: MAX_STEP - 1,
            product: None,
            reason: None,
            within,
        };
        let count = |at, entry: &Entry| {
            if entry.product == product
                && let Some(span) = interval.span(at)
            {
                usage.entry(span.start).or_default().add(entry);
            }
        };
        let is_complete = self.each_entry(scope, address, query, count).await?;
        Ok(is_complete.then_some(usage))
    }

    /// Calls `each` with every entry that a query matches, newest first; false where there are too many.
    async fn each_entry(
        &self,
        scope: &Scope,
        address: &Address,
        mut query: LedgerQuery,
        mut each: impl FnMut(Timestamp, &Entry) + Send,
    ) -> Result<bool, Error> {
        for _ in 0..MAX_SUM_PAGES {
            let page = self
                .records(scope, address, query.clone().records())
                .await?;
            page.matches
                .iter()
                .filter_map(|record| Some((record.at, record.entry()?)))
                .for_each(|(at, entry)| each(at, entry));
            query.before = page.next;
            if page.next.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) async fn records(
        &self,
        scope: &Scope,
        address: &Address,
        query: RecordQuery,
    ) -> Result<Records, Error> {
        let parts = self.ask_at(scope, address, query.clone()).await?;
        if parts.recent.len() > query.limit || parts.below <= 1 {
            let wallet = (parts.wallet, parts.key);
            return Ok(Records::new(wallet, parts.recent, query.limit, None));
        }
        let read = tokio::task::spawn_blocking(move || read_on(parts, &query)).await;
        read.map_err(|_| Error::Unavailable)?
    }
}

pub(super) struct Records {
    pub(super) wallet: (WalletId, WalletKey),
    pub(super) matches: Vec<Record>,
    /// The number below which the next page begins; `None` on the last page.
    pub(super) next: Option<u64>,
}

impl Records {
    /// `more` is the number below which a scan that was cut short continues.
    fn new(
        wallet: (WalletId, WalletKey),
        mut matches: Vec<Record>,
        limit: usize,
        more: Option<u64>,
    ) -> Self {
        let full = matches.len() > limit;
        matches.truncate(limit);
        let next = match full {
            true => matches.last().map(|record| record.seq),
            false => more,
        };
        Self {
            wallet,
            matches,
            next,
        }
    }
}

fn read_on(parts: RecentLedger, query: &RecordQuery) -> Result<Records, Error> {
    let RecentLedger {
        wallet,
        key,
        recent: mut records,
        history,
        mut below,
    } = parts;
    let wallet = (wallet, key);
    let unreadable = |error| {
        tracing::error!(%error, "A wallet's history cannot be read");
        Error::Unavailable
    };
    if query.within.end != Timestamp::NEVER {
        below = first_at(&*history, below, query.within.end).map_err(unreadable)?;
    }
    let mut looked_at = 0_usize;
    // Steps grow while few records match.
    let mut at_once = query.limit.saturating_add(1);
    while records.len() <= query.limit && below > 1 {
        if looked_at >= MAX_SCAN {
            return Ok(Records::new(wallet, records, query.limit, Some(below)));
        }
        let older = history.before(below, at_once).map_err(unreadable)?;
        let Some(last) = older.last() else { break };
        // Records are in order of time, so all older ones are too old.
        below = match last.at < query.within.start {
            true => 0,
            false => last.seq,
        };
        looked_at += older.len();
        at_once = at_once.saturating_mul(2).min(MAX_STEP);
        records.extend(older.into_iter().filter(|record| query.matches(record)));
    }
    Ok(Records::new(wallet, records, query.limit, None))
}

/// The number of the first record at `end` or later, or `below` if there is none.
fn first_at(history: &dyn History, below: u64, end: Timestamp) -> Result<u64, persistence::Error> {
    // All records below `low` are older; those from `high` on are not, or are not wanted.
    let (mut low, mut high) = (1, below.min(history.applied().saturating_add(1)));
    while low < high {
        let middle = low.midpoint(high);
        match history.before(middle + 1, 1)?.first() {
            Some(record) if record.at >= end => high = record.seq,
            _ => low = middle + 1,
        }
    }
    Ok(high)
}

impl From<Records> for LedgerPage {
    fn from(records: Records) -> Self {
        let Records {
            wallet,
            matches,
            next,
        } = records;
        let line = |record| LedgerLine::of(wallet, record);
        Self {
            lines: matches.into_iter().filter_map(line).collect(),
            next,
        }
    }
}
