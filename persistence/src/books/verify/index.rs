//! A wallet's runs, read page by page: sorted, every key in the page that look-ups go to and
//! in that page's filter. A key is then findable without looking it up.

use std::collections::BTreeMap;

use domain::id::{ProductId, WalletKey};

use super::listed::Listing;
use crate::{
    books::{
        store::{Store, damaged},
        wallet_record::WalletRecord,
    },
    error::Error,
    index::{
        Key,
        run::{self, RunMeta},
    },
    usage::{Usage, mix},
};

/// How many stored values wallets lead to, to be compared with how many there are.
#[derive(Debug, Default)]
pub(super) struct ReferencedCounts {
    pub(super) parts: usize,
    pub(super) blocks: usize,
    pub(super) index: usize,
    pub(super) filters: usize,
    pub(super) listing: Listing,
    /// What was granted, used and sold according to all ledgers and orders.
    pub(super) used: BTreeMap<ProductId, Usage>,
}

/// A fingerprint of a set of keys that does not depend on their order, so that a wallet's keys,
/// sorted by record here and by hash there, can be compared without holding them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexCounts {
    count: u64,
    sum: u128,
}

impl IndexCounts {
    pub(super) fn add(&mut self, key: Key) {
        let low = mix(key.hash ^ mix(key.version));
        let high = mix(low ^ key.version.rotate_left(32));
        self.count += 1;
        self.sum = self
            .sum
            .wrapping_add((u128::from(high) << 64) | u128::from(low));
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }
}

/// Reads and checks all keys that a wallet's runs lead to.
pub(super) fn read(
    store: &Store,
    wallet: &WalletKey,
    stored: &WalletRecord,
    referenced: &mut ReferencedCounts,
) -> Result<IndexCounts, Error> {
    let mut tally = IndexCounts::default();
    for meta in &stored.head.runs {
        read_run(store, wallet, meta, &mut tally, referenced)?;
    }
    Ok(tally)
}

fn read_run(
    store: &Store,
    wallet: &WalletKey,
    meta: &RunMeta,
    tally: &mut IndexCounts,
    referenced: &mut ReferencedCounts,
) -> Result<(), Error> {
    let wrong = |page, what| {
        damaged(format!(
            "{wallet:?}: page {page} of run {} of its index {what}",
            meta.number
        ))
    };
    let mut count = 0_u64;
    let mut keys = Vec::new();
    for page in 0..meta.pages {
        keys.clear();
        if !run::read(store, wallet, meta.number, page, &mut keys)? {
            return Err(run::missing(wallet, meta.number));
        }
        if !keys.is_sorted_by(|one, other| one < other) {
            return Err(wrong(page, "is not sorted"));
        }
        if keys.iter().any(|key| meta.page_of(key.hash) != page) {
            return Err(wrong(page, "has keys of another page"));
        }
        let filter = run::stored_filter(store, wallet, meta.number, page)?;
        let filter = filter.ok_or_else(|| wrong(page, "has no filter"))?;
        if keys.iter().any(|key| !filter.may_have(key.hash)) {
            return Err(wrong(page, "has a filter that hides one of its keys"));
        }
        referenced.filters += 1;
        let values = keys.len().div_ceil(store.tuning.keys_per_value).max(1);
        referenced.index += values;
        count += keys.len() as u64;
        keys.iter().for_each(|key| tally.add(*key));
    }
    if count == meta.keys {
        Ok(())
    } else {
        Err(wrong(0, "and the others do not add up"))
    }
}
