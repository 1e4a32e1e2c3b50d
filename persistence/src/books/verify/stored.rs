//! Re-reads all applied state. Every wallet is replayed from its first entry: each record, each snapshot, each key of
//! the index and each entry of the look-ups must agree with the events, and nothing else may be there. Streams: memory
//! does not grow with wallets or their histories. A damaged wallet is reported, and the next one read.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    history::Record,
    id::{ProductId, WalletKey},
    wallet::{Change, Wallet},
};

use super::{
    index::{self, IndexCounts, ReferencedCounts},
    listed::{self, PendingEntries},
    report::VerifyReport,
};
use crate::{
    books::{
        catalog, directory, notes,
        pages::{self, From},
        project_events, retire,
        store::{Store, damaged, io},
        usage as stored_usage,
        wallet_record::WalletRecord,
    },
    error::Error,
    format::{DecodedEntry, entry::Entry},
    index::{Key, fingerprint},
    lookups::ListChange,
    usage::{self, Usage},
};

pub(in crate::books) fn verify(
    store: &Store,
    pending: &PendingEntries,
    report: &mut VerifyReport,
) -> Result<(), Error> {
    let mut referenced = ReferencedCounts::default();
    let mut seen = BTreeMap::new();
    for entry in &store.wallets {
        let (key, value) = entry.map_err(io)?;
        let Some(key) = key.first_chunk::<16>().map(|key| WalletKey(*key)) else {
            report
                .problems
                .push("a wallet is stored under a short key".into());
            continue;
        };
        report.wallets += 1;
        let more = pending.get(&key);
        if more.is_some() {
            seen.insert(key, ());
        }
        let read = WalletRecord::decode(&key, &value);
        let checked =
            read.and_then(|stored| wallet(store, &key, &stored, more, &mut referenced, report));
        if let Err(error) = checked {
            report.problems.push(error.to_string());
        }
    }
    for (key, more) in pending {
        if !seen.contains_key(key) {
            let nothing = WalletRecord::default();
            let checked = wallet(store, key, &nothing, Some(more), &mut referenced, report);
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
    match project_events::verify(store, &mut report.problems) {
        Ok(count) => report.project_events = count,
        Err(error) => report.problems.push(error.to_string()),
    }
    for tree in [&store.wallets, &store.pages, &store.parts, &store.directory] {
        report.ledger_bytes += bytes(tree)?;
    }
    report.project_event_bytes = bytes(&store.project_events)?;
    report.usage_bytes = bytes(&store.usage)?;
    // Damaged values were not reached either: reporting them again would only hide the cause.
    if report.problems.is_empty() {
        orphans(store, &referenced, report)?;
        let elsewhere = report.log_elsewhere;
        if elsewhere.is_some_and(|log| log.may_be_interrupted) {
            return Ok(());
        }
        // After an interrupted checkpoint some may be counted already, and will not be counted again.
        if pending.is_empty() {
            used(store, &referenced, &mut report.problems)?;
        }
        if let Err(error) = referenced
            .listing
            .compare(store, pending, &mut report.problems)
        {
            report.problems.push(error.to_string());
        }
    }
    Ok(())
}

fn bytes(tree: &sled::Tree) -> Result<u64, Error> {
    let mut total = 0_u64;
    for record in tree {
        let (key, value) = record.map_err(io)?;
        let size = key.len() + value.len();
        total += u64::try_from(size).unwrap_or(u64::MAX);
    }
    Ok(total)
}

struct Replay<'a> {
    key: &'a WalletKey,
    stored: &'a WalletRecord,
    snapshot: Option<Wallet>,
    wallet: Option<Wallet>,
    records: u64,
    keys: IndexCounts,
    fingerprints: Vec<u8>,
    sums: BTreeMap<ProductId, i64>,
}

fn wallet(
    store: &Store,
    key: &WalletKey,
    stored: &WalletRecord,
    more: Option<&Vec<Box<[u8]>>>,
    referenced: &mut ReferencedCounts,
    report: &mut VerifyReport,
) -> Result<(), Error> {
    let missing = || damaged(format!("{key:?}: a part of its snapshot is missing"));
    referenced.parts += stored
        .head
        .parts
        .map_or(0, |parts| usize::from(parts.count));
    let mut replay = Replay {
        key,
        stored,
        snapshot: stored.snapshot(store, key)?.ok_or_else(missing)?,
        wallet: None,
        records: 0,
        keys: IndexCounts::default(),
        fingerprints: Vec::new(),
        sums: BTreeMap::new(),
    };
    let mut listed = more.is_none().then(BTreeMap::new);
    let mut orders = 0_u64;
    pages::each(store, key, stored, From::after(0), &mut |entry, _| {
        let decoded = replay.step(&entry)?;
        let (counted, sold) = entry.counted()?;
        if let Some((_, counted)) = counted {
            let used = referenced.used.entry(counted.product).or_default();
            used.count.add(counted.reason, counted.delta);
            if usage::is_active(counted.reason) {
                used.wallets.add(key);
            }
        }
        if let Some(sold) = sold {
            let used = referenced.used.entry(sold.product).or_default();
            used.sales.change(&sold);
        }
        let Some(decoded) = decoded else {
            return Ok(true);
        };
        if let Some(listed) = &mut listed {
            listed::follow(key, &decoded, listed);
            let placed = matches!(decoded.event.change, Change::OrderPlaced(_));
            orders += u64::from(placed);
        }
        Ok(true)
    })?;
    report.records += replay.records;
    if replay.fingerprints != stored.fingerprints {
        return Err(damaged(format!(
            "{key:?}: its fingerprints are not those of its newest keys"
        )));
    }
    let keys = index::read(store, key, stored, referenced)?;
    report.index_keys += keys.count();
    if keys != replay.keys {
        return Err(damaged(format!(
            "{key:?}: its index does not lead to each of its keys exactly once"
        )));
    }
    let blocks = directory::blocks(store, key, &stored.head).count();
    referenced.blocks += blocks;
    // After an interrupted checkpoint its entries may be in look-ups or not, and will be put there again.
    if let Some(listed) = listed {
        referenced.listing.add(listed);
        report.orders += orders;
    }
    for entry in more.into_iter().flatten() {
        let entry = Entry::read(entry)?;
        if entry.version > stored.head.version {
            replay.step(&entry)?;
        }
    }
    // One that was taken while its wallet was ahead of the checkpoint is reached in the log, which may be elsewhere.
    if replay.snapshot.is_some() && report.log_elsewhere.is_none() {
        return Err(damaged(format!(
            "{key:?}: its snapshot is of a version that its entries do not reach"
        )));
    }
    let faults = replay.wallet.as_ref().map(Wallet::faults);
    for fault in faults.unwrap_or_default() {
        report.problems.push(format!("{key:?}: {fault}"));
    }
    Ok(())
}

impl Replay<'_> {
    /// Applies an entry and checks it against its event. Returns its content, if it is listed.
    fn step(&mut self, entry: &Entry<'_>) -> Result<Option<DecodedEntry>, Error> {
        let key = *self.key;
        let wrong = |what: &str| damaged(format!("{key:?}: entry {} {what}", entry.version));
        let decoded = entry.decode()?;
        let hash = decoded.record.as_ref().and_then(|record| record.lookup());
        if hash.map(|lookup| lookup.hash(&key)) != entry.hash {
            return Err(wrong("is stored under another key's hash"));
        }
        let (wallet, applied) = Wallet::replay(&mut self.wallet, key, decoded.event.clone())?;
        if ListChange::of(wallet, &applied) != decoded.moved {
            return Err(wrong("says something else about lists than its wallet"));
        }
        if applied.record != decoded.record {
            return Err(wrong("does not match its event"));
        }
        if let Some(entry) = decoded.record.as_ref().and_then(Record::entry) {
            let sum = self.sums.entry(entry.product).or_default();
            *sum = sum.saturating_add(entry.delta);
            if *sum != entry.balance_after {
                return Err(wrong("does not have the sum of all deltas after it"));
            }
        }
        if wallet.version != entry.version {
            return Err(wrong("has another version than its wallet"));
        }
        self.records += u64::from(decoded.record.is_some());
        let (head, version) = (&self.stored.head, entry.version);
        match entry.hash {
            Some(hash) if version <= head.indexed => self.keys.add(Key { hash, version }),
            Some(hash) if version <= head.version => self.fingerprints.extend(fingerprint(hash)),
            Some(_) | None => {}
        }
        if wallet.version == self.stored.head.snapshot
            && self.snapshot.take().is_some_and(|taken| taken != *wallet)
        {
            return Err(damaged(format!(
                "{key:?}: its snapshot does not agree with its events"
            )));
        }
        Ok(entry.is_listed().then_some(decoded))
    }
}

/// Checks that counted usage is what ledgers and orders add up to.
fn used(
    store: &Store,
    referenced: &ReferencedCounts,
    problems: &mut Vec<String>,
) -> Result<(), Error> {
    let stored = stored_usage::totals(store)?;
    let products = stored.keys().chain(referenced.used.keys());
    let products: BTreeSet<_> = products.copied().collect();
    for product in products {
        let (stored, said) = (stored.get(&product), referenced.used.get(&product));
        let agrees = |(one, other): (&Usage, &Usage)| one.agrees_with(other);
        if stored != said && !stored.zip(said).is_some_and(agrees) {
            problems.push(format!(
                "usage of {product} was counted as {stored:?}, but its wallets come to {said:?}"
            ));
        }
    }
    Ok(())
}

/// Reports stored values that no wallet leads to.
fn orphans(
    store: &Store,
    referenced: &ReferencedCounts,
    report: &mut VerifyReport,
) -> Result<(), Error> {
    let ReferencedCounts {
        parts,
        blocks,
        index,
        filters,
        ..
    } = *referenced;
    let blocks = blocks.saturating_add(unused_blocks(store)?);
    for (tree, referenced, what) in [
        (&store.pages, named_pages(store)?, "ledger pages"),
        (&store.parts, parts, "parts of snapshots"),
        (&store.directory, blocks, "directory blocks"),
        (&store.index, index, "index pages"),
        (&store.filters, filters, "filters"),
    ] {
        let stored = tree.len();
        if stored != referenced {
            report.problems.push(format!(
                "{stored} {what} are stored, but {referenced} are in use"
            ));
        }
    }
    if store.checkpoints.len() > 1 {
        report
            .problems
            .push("replaced runs were not removed".into());
    }
    Ok(())
}

/// Counts the pages that some wallet leads to.
fn named_pages(store: &Store) -> Result<usize, Error> {
    let mut named_pages = 0_usize;
    for page in &store.pages {
        let (key, page) = page.map_err(io)?;
        let (number, _) = retire::read_key(&key)?;
        named_pages += usize::from(retire::is_named(store, number, &page)?);
    }
    Ok(named_pages)
}

/// Counts the directory blocks that an interrupted checkpoint wrote for spills that its wallets still
/// have inline: harmless, and replaced by the checkpoint that moves them there.
fn unused_blocks(store: &Store) -> Result<usize, Error> {
    let mut unused = 0_usize;
    let mut previous: Option<(WalletKey, u64)> = None;
    for key in store.directory.iter().keys() {
        let key = key.map_err(io)?;
        let Some((wallet, first)) = key.split_first_chunk::<16>() else {
            continue;
        };
        let wallet = WalletKey(*wallet);
        let first = first
            .first_chunk::<8>()
            .map_or(0, |first| u64::from_be_bytes(*first));
        if previous.is_none_or(|(of, _)| of != wallet) {
            let Some(stored) = WalletRecord::read(store, &wallet)? else {
                continue;
            };
            previous = Some((wallet, directory::first_inline(&stored.head)));
        }
        if previous.is_some_and(|(of, inline)| of == wallet && first >= inline) {
            unused += 1;
        }
    }
    Ok(unused)
}
