//! Re-reads the whole folded state. Every wallet is replayed from its first entry: each record, each
//! snapshot, each key of the index and each entry of the look-ups must be what the events come to, and
//! nothing else may be there. Streams: memory does not grow with wallets or their histories. A damaged
//! wallet is reported, and the next one read.

mod index;
mod listed;

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    id::{ProductId, WalletKey},
    wallet::Wallet,
};

use self::{index::Tally, listed::Listing};
use super::{
    catalog, directory, notes, notices,
    pages::{self, From},
    retire,
    store::{Store, damaged, io},
    usage as stored_usage,
    wallet_record::WalletRecord,
};
use crate::{
    contract::Error,
    format::entry::{Entry, Said},
    index::Key,
    usage::{self, Usage},
    verify::Report,
};

/// Entries of the log that are not folded, or not all, by wallet; in log order.
pub(crate) type Unfolded = BTreeMap<WalletKey, Vec<Box<[u8]>>>;

/// Stored values that wallets lead to, to be compared with how many there are.
#[derive(Debug, Default)]
struct Reached {
    parts: usize,
    blocks: usize,
    index: usize,
    filters: usize,
    listing: Listing,
    /// What all ledgers and orders say was granted, used and sold.
    used: BTreeMap<ProductId, Usage>,
}

pub(super) fn verify(store: &Store, unfolded: &Unfolded, report: &mut Report) -> Result<(), Error> {
    let mut reached = Reached::default();
    let mut seen = BTreeMap::new();
    for entry in &store.wallets {
        let (key, value) = entry.map_err(io)?;
        let Some(key) = key.first_chunk::<16>().map(|key| WalletKey(*key)) else {
            report
                .problems
                .push("a wallet is stored under a short key".into());
            continue;
        };
        report.wallets = report.wallets.saturating_add(1);
        let more = unfolded.get(&key);
        if more.is_some() {
            seen.insert(key, ());
        }
        let read = WalletRecord::decode(&key, &value);
        let checked =
            read.and_then(|stored| wallet(store, &key, &stored, more, &mut reached, report));
        if let Err(error) = checked {
            report.problems.push(error.to_string());
        }
    }
    for (key, more) in unfolded {
        if !seen.contains_key(key) {
            let nothing = WalletRecord::default();
            let checked = wallet(store, key, &nothing, Some(more), &mut reached, report);
            if let Err(error) = checked {
                report.problems.push(error.to_string());
            }
        }
    }
    match catalog::documents(store) {
        Ok(documents) => report.documents = Some(documents),
        Err(error) => report.problems.push(error.to_string()),
    }
    match notes::with_prefix(store, &[]) {
        Ok(notes) => report.notes = Some(notes),
        Err(error) => report.problems.push(error.to_string()),
    }
    match notices::verify(store, &mut report.problems) {
        Ok(count) => report.notices = count,
        Err(error) => report.problems.push(error.to_string()),
    }
    for tree in [&store.wallets, &store.pages, &store.parts, &store.directory] {
        report.ledger_bytes = report.ledger_bytes.saturating_add(bytes(tree)?);
    }
    report.notice_bytes = bytes(&store.notices)?;
    report.usage_bytes = bytes(&store.usage)?;
    // What is damaged was not reached either: saying so again would only hide the cause.
    if report.problems.is_empty() {
        orphans(store, &reached, report)?;
        // Where a fold was interrupted some may be counted, and will not be counted again.
        if unfolded.is_empty() {
            used(store, &reached, &mut report.problems)?;
        }
        if let Err(error) = reached
            .listing
            .compare(store, unfolded, &mut report.problems)
        {
            report.problems.push(error.to_string());
        }
    }
    Ok(())
}

/// What keys and values come to.
fn bytes(tree: &sled::Tree) -> Result<u64, Error> {
    let mut total = 0_u64;
    for record in tree {
        let (key, value) = record.map_err(io)?;
        let size = key.len().saturating_add(value.len());
        total = total.saturating_add(u64::try_from(size).unwrap_or(u64::MAX));
    }
    Ok(total)
}

/// One wallet's way from nothing to what is stored.
struct Replay<'a> {
    key: &'a WalletKey,
    stored: &'a WalletRecord,
    /// The stored snapshot, until the replay has come to its version.
    snapshot: Option<Wallet>,
    wallet: Option<Wallet>,
    records: u64,
    keys: Tally,
}

fn wallet(
    store: &Store,
    key: &WalletKey,
    stored: &WalletRecord,
    more: Option<&Vec<Box<[u8]>>>,
    reached: &mut Reached,
    report: &mut Report,
) -> Result<(), Error> {
    let missing = || damaged(format!("{key:?}: a part of its snapshot is missing"));
    reached.parts = reached
        .parts
        .saturating_add(stored.head.parts.map_or(0, |parts| parts.count.into()));
    let mut replay = Replay {
        key,
        stored,
        snapshot: stored.snapshot(store, key)?.ok_or_else(missing)?,
        wallet: None,
        records: 0,
        keys: Tally::default(),
    };
    let mut listed = more.is_none().then(BTreeMap::new);
    pages::each(store, key, stored, From::after(0), &mut |entry, _| {
        let said = replay.step(&entry)?;
        if let Some(counted) = entry.counted()? {
            let used = reached.used.entry(counted.product).or_default();
            used.count.add(counted.reason, counted.delta);
            if usage::is_active(counted.reason) {
                used.wallets.add(key);
            }
        }
        let Some(said) = said else { return Ok(true) };
        if let Some((product, _, sales)) = usage::sold(&said.event, said.record.as_ref()) {
            let used = reached.used.entry(product).or_default();
            used.sales.merge(&sales);
        }
        if let Some(listed) = &mut listed {
            listed::follow(key, &said.event, listed);
        }
        Ok(true)
    })?;
    report.records = report.records.saturating_add(replay.records);
    let keys = index::read(store, key, stored, reached)?;
    report.index_keys = report.index_keys.saturating_add(keys.count());
    if keys != replay.keys {
        return Err(damaged(format!(
            "{key:?}: its index does not lead to each of its keys exactly once"
        )));
    }
    let blocks = directory::blocks(store, key, &stored.head).count();
    reached.blocks = reached.blocks.saturating_add(blocks);
    // Where a fold was interrupted its entries may be in look-ups or not, and will be listed again.
    if let Some(listed) = listed {
        report.orders = report.orders.saturating_add(reached.listing.add(listed));
    }
    for entry in more.into_iter().flatten() {
        let entry = Entry::read(entry)?;
        if entry.version > stored.head.version {
            replay.step(&entry)?;
        }
    }
    if replay.snapshot.is_some() {
        return Err(damaged(format!(
            "{key:?}: its snapshot is of a version that its entries do not come to"
        )));
    }
    let faults = replay.wallet.as_ref().map(Wallet::faults);
    for fault in faults.unwrap_or_default() {
        report.problems.push(format!("{key:?}: {fault}"));
    }
    Ok(())
}

impl Replay<'_> {
    /// Applies an entry, which must say what its event comes to. What it says, if it is listed.
    fn step(&mut self, entry: &Entry<'_>) -> Result<Option<Said>, Error> {
        let key = *self.key;
        let wrong = |what: &str| damaged(format!("{key:?}: entry {} {what}", entry.version));
        let said = entry.said()?;
        let hash = said.record.as_ref().and_then(|record| record.lookup());
        if hash.map(|lookup| lookup.hash(&key)) != entry.hash {
            return Err(wrong("is kept under another key than its own"));
        }
        let (wallet, record) = Wallet::replay(self.wallet.take(), key, said.event.clone())?;
        if record != said.record {
            return Err(wrong("says otherwise than its event"));
        }
        if wallet.version != entry.version {
            return Err(wrong("is of another version"));
        }
        self.records = self.records.saturating_add(record.is_some().into());
        if entry.version <= self.stored.head.indexed
            && let Some(hash) = entry.hash
        {
            self.keys.add(Key {
                hash,
                version: entry.version,
            });
        }
        if wallet.version == self.stored.head.snapshot
            && self.snapshot.take().is_some_and(|taken| taken != wallet)
        {
            return Err(damaged(format!(
                "{key:?}: its snapshot is not what its events come to"
            )));
        }
        self.wallet = Some(wallet);
        Ok(entry.is_listed().then_some(said))
    }
}

/// That what was counted as granted, used and sold, and by whom, is what ledgers and orders say.
fn used(store: &Store, reached: &Reached, problems: &mut Vec<String>) -> Result<(), Error> {
    let stored = stored_usage::totals(store)?;
    let products = stored.keys().chain(reached.used.keys());
    let products: BTreeSet<_> = products.copied().collect();
    for product in products {
        let (stored, said) = (stored.get(&product), reached.used.get(&product));
        if stored != said {
            problems.push(format!(
                "usage of {product} was counted as {stored:?}, and its wallets say {said:?}"
            ));
        }
    }
    Ok(())
}

/// Whatever no wallet leads to.
fn orphans(store: &Store, reached: &Reached, report: &mut Report) -> Result<(), Error> {
    let Reached {
        parts,
        blocks,
        index,
        filters,
        ..
    } = *reached;
    let blocks = blocks.saturating_add(unused_blocks(store)?);
    for (tree, reached, what) in [
        (&store.pages, named_pages(store)?, "ledger pages"),
        (&store.parts, parts, "parts of snapshots"),
        (&store.directory, blocks, "directory blocks"),
        (&store.index, index, "index pages"),
        (&store.filters, filters, "filters"),
    ] {
        let stored = tree.len();
        if stored != reached {
            report.problems.push(format!(
                "{stored} {what} are stored, and {reached} are in use"
            ));
        }
    }
    if store.folds.len() > 1 {
        report
            .problems
            .push("replaced runs were not forgotten".into());
    }
    Ok(())
}

/// Pages that some wallet leads to.
fn named_pages(store: &Store) -> Result<usize, Error> {
    let mut named = 0_usize;
    for page in &store.pages {
        let (key, page) = page.map_err(io)?;
        let (number, _) = retire::read_key(&key)?;
        named = named.saturating_add(retire::is_named(store, number, &page)?.into());
    }
    Ok(named)
}

/// Directory blocks that an interrupted fold wrote for spills that its wallets still have inline:
/// harmless, and replaced by the fold that moves them there.
fn unused_blocks(store: &Store) -> Result<usize, Error> {
    let mut unused = 0_usize;
    let mut known: Option<(WalletKey, u64)> = None;
    for key in store.directory.iter().keys() {
        let key = key.map_err(io)?;
        let Some((wallet, first)) = key.split_first_chunk::<16>() else {
            continue;
        };
        let wallet = WalletKey(*wallet);
        let first = first
            .first_chunk::<8>()
            .map_or(0, |first| u64::from_be_bytes(*first));
        if known.is_none_or(|(of, _)| of != wallet) {
            let Some(stored) = WalletRecord::read(store, &wallet)? else {
                continue;
            };
            known = Some((wallet, directory::first_inline(&stored.head)));
        }
        if known.is_some_and(|(of, inline)| of == wallet && first >= inline) {
            unused = unused.saturating_add(1);
        }
    }
    Ok(unused)
}
