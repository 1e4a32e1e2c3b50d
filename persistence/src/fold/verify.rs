//! Re-reads the whole folded state: every record of every wallet, the books' sums, and that the
//! index leads to each key exactly once. Streams: memory does not grow with wallets or their
//! histories. A damaged wallet is reported, and the next one read.

mod index;
mod orders;

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    history::Record,
    id::{OrderSerial, ProductId, WalletKey},
    wallet::{Order, Wallet},
};

use self::{index::Tally, orders::Found};
use super::{
    catalog, directory, notes,
    store::{Store, damaged, io},
    wallet_record::{Spill, WalletRecord},
};
use crate::{codec::decode_value, contract::Error, index::Key, verify::Report};

/// Stored values that wallets lead to, to be compared with how many there are.
#[derive(Debug, Default)]
struct Reached {
    pages: usize,
    parts: usize,
    blocks: usize,
    index: usize,
    filters: usize,
    aliases: usize,
    orders: Found,
}

/// `unfolded`: wallets with events in the log that are not folded, or not all.
pub(super) fn verify(
    store: &Store,
    unfolded: &BTreeSet<WalletKey>,
    report: &mut Report,
) -> Result<(), Error> {
    let mut reached = Reached::default();
    for entry in &store.wallets {
        let (key, value) = entry.map_err(io)?;
        let Some(key) = key.first_chunk::<16>().map(|key| WalletKey(*key)) else {
            report
                .problems
                .push("a wallet is stored under a short key".into());
            continue;
        };
        report.wallets = report.wallets.saturating_add(1);
        if let Err(error) = wallet(store, &key, &value, unfolded, &mut reached, report) {
            report.problems.push(error.to_string());
        }
    }
    for note in store.notes.iter().values() {
        if let Err(error) = notes::body(&note.map_err(io)?) {
            report.problems.push(error.to_string());
        }
        report.notes = report.notes.saturating_add(1);
    }
    // What is damaged was not reached either: saying so again would only hide the cause.
    if report.problems.is_empty() {
        orphans(store, &reached, report)?;
        let problems = &mut report.problems;
        if let Err(error) = reached.orders.orphans(store, unfolded, problems) {
            problems.push(error.to_string());
        }
    }
    Ok(())
}

fn wallet(
    store: &Store,
    key: &WalletKey,
    value: &[u8],
    unfolded: &BTreeSet<WalletKey>,
    reached: &mut Reached,
    report: &mut Report,
) -> Result<(), Error> {
    let stored = WalletRecord::decode(key, value)?;
    let missing = || damaged(format!("{key:?}: a part of its snapshot is missing"));
    let wallet = stored.wallet(store, key)?.ok_or_else(missing)?;
    reached.parts = reached
        .parts
        .saturating_add(stored.head.parts.map_or(0, |parts| parts.count.into()));
    if wallet.key != *key
        || wallet.version != stored.head.version
        || wallet.records != stored.head.records
    {
        return Err(damaged(format!(
            "{key:?}: its snapshot is not the one its record tells of"
        )));
    }
    if let Some(code) = catalog::alias_of(key, &wallet.owner) {
        if catalog::alias(store, &code)? != Some(*key) {
            return Err(damaged(format!("{key:?}: its code does not lead to it")));
        }
        reached.aliases = reached.aliases.saturating_add(1);
    }
    let mut books = Books {
        key: *key,
        next_seq: 1,
        sums: BTreeMap::new(),
        keys: Tally::default(),
        orders: BTreeMap::new(),
    };
    for block in directory::blocks(store, key, &stored.head) {
        reached.blocks = reached.blocks.saturating_add(1);
        for spill in block? {
            pages(store, key, spill, &mut books, reached)?;
        }
    }
    for spill in &stored.head.spills {
        pages(store, key, *spill, &mut books, reached)?;
    }
    if books.next_seq != stored.head.spilled.saturating_add(1) {
        return Err(damaged(format!(
            "{key:?}: its pages do not end where its tail begins"
        )));
    }
    stored
        .tail()?
        .iter()
        .try_for_each(|record| books.add(record))?;
    report.records = report
        .records
        .saturating_add(books.next_seq.saturating_sub(1));
    books.balance(&wallet)?;
    if !unfolded.contains(key) {
        let orders = reached.orders.add(store, &wallet, &books.orders)?;
        report.orders = report.orders.saturating_add(orders);
    }
    let keys = index::read(store, key, &stored, reached)?;
    report.index_keys = report.index_keys.saturating_add(keys.count());
    if keys == books.keys {
        Ok(())
    } else {
        Err(damaged(format!(
            "{key:?}: its index does not lead to each of its keys exactly once"
        )))
    }
}

/// All pages of a spill, which must begin where the last one ended.
fn pages(
    store: &Store,
    wallet: &WalletKey,
    spill: Spill,
    books: &mut Books,
    reached: &mut Reached,
) -> Result<(), Error> {
    let gap = |seq| {
        damaged(format!(
            "{wallet:?}: the page of its record {seq} is missing"
        ))
    };
    if spill.first_seq != books.next_seq {
        return Err(gap(books.next_seq));
    }
    let prefix = crate::index::run::prefix(wallet, spill.number);
    for page in store.pages.scan_prefix(prefix) {
        let (key, value) = page.map_err(io)?;
        if key.last_chunk::<8>().map(|seq| u64::from_be_bytes(*seq)) != Some(books.next_seq) {
            return Err(gap(books.next_seq));
        }
        let records: Vec<Record> = decode_value(&value)?;
        records.iter().try_for_each(|record| books.add(record))?;
        reached.pages = reached.pages.saturating_add(1);
    }
    if books.next_seq == spill.first_seq {
        Err(gap(spill.first_seq))
    } else {
        Ok(())
    }
}

/// What a wallet's records add up to.
struct Books {
    key: WalletKey,
    next_seq: u64,
    sums: BTreeMap<ProductId, i64>,
    keys: Tally,
    /// Archived ones, as they were archived last.
    orders: BTreeMap<OrderSerial, Order>,
}

impl Books {
    fn add(&mut self, record: &Record) -> Result<(), Error> {
        let Self { key, next_seq, .. } = *self;
        if record.seq != next_seq {
            return Err(damaged(format!(
                "{key:?}: record {} is in place {next_seq}",
                record.seq
            )));
        }
        self.next_seq = next_seq.saturating_add(1);
        if let Some(lookup) = record.lookup() {
            self.keys.add(Key {
                hash: lookup.hash(&key),
                seq: record.seq,
            });
        }
        if let Some(archived) = record.order() {
            self.orders.insert(archived.serial, archived.order.clone());
        }
        let Some(entry) = record.entry() else {
            return Ok(());
        };
        let sum = self.sums.entry(entry.product).or_default();
        *sum = sum.saturating_add(entry.delta);
        if *sum == entry.balance_after {
            Ok(())
        } else {
            Err(damaged(format!(
                "{key:?}: the balance after record {next_seq} is not the sum"
            )))
        }
    }

    fn balance(&self, wallet: &Wallet) -> Result<(), Error> {
        let key = self.key;
        if self.next_seq != wallet.records.saturating_add(1) {
            return Err(damaged(format!(
                "{key:?}: records after {} are missing",
                self.next_seq
            )));
        }
        let sum = |product| self.sums.get(&product).copied().unwrap_or_default();
        let same = wallet
            .accounts()
            .iter()
            .all(|account| account.balance == sum(account.product));
        let known = self
            .sums
            .keys()
            .all(|product| wallet.account(*product).is_some());
        if same && known {
            Ok(())
        } else {
            Err(damaged(format!(
                "{key:?}: a balance is not the sum of its ledger entries"
            )))
        }
    }
}

/// Whatever no wallet leads to.
fn orphans(store: &Store, reached: &Reached, report: &mut Report) -> Result<(), Error> {
    let Reached {
        pages,
        parts,
        blocks,
        index,
        filters,
        aliases,
        orders: _,
    } = *reached;
    let blocks = blocks.saturating_add(unused_blocks(store)?);
    for (tree, reached, what) in [
        (&store.pages, pages, "ledger pages"),
        (&store.parts, parts, "parts of snapshots"),
        (&store.directory, blocks, "directory blocks"),
        (&store.index, index, "index pages"),
        (&store.filters, filters, "filters"),
        // Codes of events that a fold was interrupted at may be stored before their wallets.
        (
            &store.aliases,
            if report.unfolded_events > 0 {
                store.aliases.len()
            } else {
                aliases
            },
            "codes",
        ),
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

/// Directory blocks that an interrupted fold wrote for spills that its wallets still have inline:
/// harmless, and replaced by the fold that moves them there.
fn unused_blocks(store: &Store) -> Result<usize, Error> {
    let mut unused = 0_usize;
    let mut known: Option<(WalletKey, u64)> = None;
    for key in store.directory.iter().keys() {
        let key = key.map_err(io)?;
        let Some((wallet, seq)) = key.split_first_chunk::<16>() else {
            continue;
        };
        let wallet = WalletKey(*wallet);
        let seq = seq
            .first_chunk::<8>()
            .map_or(0, |seq| u64::from_be_bytes(*seq));
        if known.is_none_or(|(of, _)| of != wallet) {
            let Some(stored) = WalletRecord::read(store, &wallet)? else {
                continue;
            };
            known = Some((wallet, directory::first_inline(&stored.head)));
        }
        if known.is_some_and(|(of, first)| of == wallet && seq >= first) {
            unused = unused.saturating_add(1);
        }
    }
    Ok(unused)
}
