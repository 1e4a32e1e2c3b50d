//! Ledger pages: wallets' entries as they are in the log, many to a sled value. A checkpoint's pages are
//! shared by its wallets, in the order of their keys, and keyed by the checkpoint first, so that new ones
//! always go to the right edge of the tree. Written once, never changed, never removed.
//!
//! ```text
//! key    checkpoint, wallet and version of the page's first entry
//! value  format, then for each wallet: [u8;16] key, u32 length, entries, each behind its length
//! ```

use domain::{history::Record, id::WalletKey};

use super::{
    directory,
    store::{Store, damaged, io},
    wallet_record::{Spill, WalletRecord},
};
use crate::{
    error::Error,
    format::{
        codec::{FORMAT, checked},
        entry::{self, Entries, Entry},
    },
    index::Key,
};

/// The key of a page: checkpoint, wallet and version of its first entry.
pub(crate) fn page_key(number: u64, wallet: &WalletKey, version: u64) -> Vec<u8> {
    [
        number.to_be_bytes().as_slice(),
        &wallet.0,
        &version.to_be_bytes(),
    ]
    .concat()
}

/// Bytes of the wallet's key and the length in front of its entries.
const GROUP_BYTES: usize = 20;

pub(super) struct Writer<'a> {
    store: &'a Store,
    number: u64,
    /// The page's key, once it has an entry.
    key: Vec<u8>,
    bytes: Vec<u8>,
    wallet: WalletKey,
    /// Where the wallet's entries begin, once there is one in this page.
    group: Option<usize>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(store: &'a Store, number: u64) -> Self {
        Self {
            store,
            number,
            key: Vec::new(),
            bytes: Vec::with_capacity(store.tuning.page_bytes.saturating_add(4096)),
            wallet: WalletKey([0; 16]),
            group: None,
        }
    }

    /// Begins the entries of a wallet. Wallets come in the order of their keys.
    pub(super) fn wallet(&mut self, wallet: WalletKey) {
        self.end_group();
        self.wallet = wallet;
    }

    pub(super) fn push(&mut self, version: u64, entry: &[u8]) -> Result<(), Error> {
        let more = entry::pushed_bytes(entry).saturating_add(GROUP_BYTES);
        let full = self.bytes.len() + more > self.store.tuning.page_bytes;
        if full && self.bytes.len() > 1 {
            self.finish()?;
        }
        if self.bytes.is_empty() {
            self.bytes.push(FORMAT);
            self.key = page_key(self.number, &self.wallet, version);
        }
        if self.group.is_none() {
            self.bytes.extend_from_slice(&self.wallet.0);
            self.bytes.extend_from_slice(&[0; 4]);
            self.group = Some(self.bytes.len());
        }
        entry::push(&mut self.bytes, entry);
        Ok(())
    }

    fn end_group(&mut self) {
        if let Some(start) = self.group.take() {
            let length = self.bytes.len().saturating_sub(start);
            let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
            if let Some(place) = self.bytes.get_mut(start.saturating_sub(4)..start) {
                place.copy_from_slice(&length);
            }
        }
    }

    /// Writes the page that is being filled. More may follow.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.end_group();
        if !self.bytes.is_empty() {
            self.store
                .writes
                .put(&self.store.pages, &self.key, self.bytes.as_slice())?;
            self.bytes.clear();
        }
        Ok(())
    }
}

pub(super) fn groups(page: &[u8]) -> Result<Vec<(WalletKey, Entries<'_>)>, Error> {
    let mut groups = Vec::new();
    let mut rest = checked(page, "a ledger page")?;
    while !rest.is_empty() {
        let (wallet, entries, after) =
            split(rest).ok_or_else(|| damaged("a ledger page is cut short".into()))?;
        groups.push((wallet, Entries(entries)));
        rest = after;
    }
    Ok(groups)
}

fn split(bytes: &[u8]) -> Option<(WalletKey, &[u8], &[u8])> {
    let (wallet, rest) = bytes.split_first_chunk::<16>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (entries, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((WalletKey(*wallet), entries, rest))
}

fn entries_in<'a>(page: &'a [u8], wallet: &WalletKey) -> Result<Entries<'a>, Error> {
    let mut rest = checked(page, "a ledger page")?;
    while !rest.is_empty() {
        let (of, entries, after) =
            split(rest).ok_or_else(|| damaged("a ledger page is cut short".into()))?;
        if of == *wallet {
            return Ok(Entries(entries));
        }
        rest = after;
    }
    Ok(Entries(&[]))
}

/// The version to begin reading entries with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct From(u64);

impl From {
    pub(crate) const fn after(version: u64) -> Self {
        Self(version.saturating_add(1))
    }
}

pub(crate) type Look<'a> = dyn FnMut(Entry<'_>, &[u8]) -> Result<bool, Error> + 'a;

/// Calls `each` with every stored entry of a wallet from `first` on, in order, until it returns `false`.
pub(crate) fn each(
    store: &Store,
    wallet: &WalletKey,
    stored: &WalletRecord,
    From(first): From,
    each: &mut Look<'_>,
) -> Result<(), Error> {
    let mut next = first;
    let mut take = |entries: Entries<'_>| -> Result<bool, Error> {
        for entry in entries {
            let (entry, bytes) = entry?;
            if entry.version < next {
                continue;
            }
            if entry.version != next {
                return Err(missing(wallet, next));
            }
            next += 1;
            if !each(entry, bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let spilled = stored.head.spilled;
    if first <= spilled {
        for spill in directory::from(store, wallet, &stored.head, first)? {
            if !pages_of(store, wallet, spill?, first, &mut take)? {
                return Ok(());
            }
        }
    }
    if take(Entries(&stored.tail))? && next <= stored.head.version {
        return Err(missing(wallet, next));
    }
    Ok(())
}

/// The keys of entries after one version, up to another, sorted.
pub(super) fn keys(
    store: &Store,
    key: &WalletKey,
    stored: &WalletRecord,
    after: u64,
    last: u64,
) -> Result<Vec<Key>, Error> {
    let mut keys = Vec::new();
    each(store, key, stored, From::after(after), &mut |entry, _| {
        let is_wanted = entry.version <= last;
        keys.extend(entry.hash.filter(|_| is_wanted).map(|hash| Key {
            hash,
            version: entry.version,
        }));
        Ok(is_wanted)
    })?;
    keys.sort_unstable();
    Ok(keys)
}

/// Passes a spill's pages to `take`, from the one with the entry `first` on; returns whether to go on.
fn pages_of(
    store: &Store,
    wallet: &WalletKey,
    spill: Spill,
    first: u64,
    take: &mut dyn FnMut(Entries<'_>) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let first = spill.first.max(first);
    let page = page_at(store, wallet, spill, first)?.ok_or_else(|| missing(wallet, first))?;
    if !take(entries_in(&page, wallet)?)? {
        return Ok(false);
    }
    // Further pages of the same spill begin with this wallet.
    let from = page_key(spill.number, wallet, first);
    let last = page_key(spill.number, wallet, u64::MAX);
    let further = (
        std::ops::Bound::Excluded(from.as_slice()),
        std::ops::Bound::Included(last.as_slice()),
    );
    for page in store.pages.range::<&[u8], _>(further) {
        if !take(entries_in(&page.map_err(io)?.1, wallet)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn missing(wallet: &WalletKey, version: u64) -> Error {
    damaged(format!("{wallet:?}: its entry {version} is missing"))
}

/// Calls `look` with the entries of the page that has a version, or the tail. `None`: no such page.
fn around<T>(
    store: &Store,
    wallet: &WalletKey,
    stored: &WalletRecord,
    version: u64,
    look: impl FnOnce(Entries<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    if version > stored.head.spilled {
        return look(Entries(&stored.tail)).map(Some);
    }
    let Some(spill) = directory::find(store, wallet, &stored.head, version)? else {
        return Ok(None);
    };
    match page_at(store, wallet, spill, version)? {
        Some(page) => look(entries_in(&page, wallet)?).map(Some),
        None => Ok(None),
    }
}

/// The page of a spill that a version would be in.
fn page_at(
    store: &Store,
    wallet: &WalletKey,
    spill: Spill,
    version: u64,
) -> Result<Option<sled::IVec>, Error> {
    let key = page_key(spill.number, wallet, version);
    let page = store.pages.range(..=key.as_slice()).next_back();
    let page = page.transpose().map_err(io)?;
    let own = page.filter(|(key, _)| key.starts_with(&spill.number.to_be_bytes()));
    Ok(own.map(|(_, page)| page))
}

pub(crate) fn record(store: &Store, wallet: &WalletKey, version: u64) -> Result<Record, Error> {
    let stored = WalletRecord::read(store, wallet)?.ok_or_else(|| missing(wallet, version))?;
    let record = around(store, wallet, &stored, version, |entries| {
        for entry in entries {
            let (entry, _) = entry?;
            if entry.version == version {
                return entry.record();
            }
        }
        Ok(None)
    })?;
    record.flatten().ok_or_else(|| missing(wallet, version))
}

/// At most `limit` applied records with numbers below `seq`, the newest first.
pub(crate) fn before(
    store: &Store,
    wallet: &WalletKey,
    seq: u64,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    let Some(stored) = WalletRecord::read(store, wallet)? else {
        return Ok(Vec::new());
    };
    let mut below = seq.min(stored.head.version.saturating_add(1));
    let mut records = Vec::new();
    while below > 1 && records.len() < limit {
        let last = below.saturating_sub(1);
        let room = limit.saturating_sub(records.len());
        let page = around(store, wallet, &stored, last, |entries| {
            let heads: Result<Vec<Entry<'_>>, Error> = entries.map(|entry| Ok(entry?.0)).collect();
            let heads = heads?;
            let older = heads.iter().filter(|entry| entry.version < below);
            let with_record = older.clone().rev().filter(|entry| entry.has_record());
            let of_page: Result<Vec<_>, Error> = with_record
                .take(room)
                .filter_map(|entry| entry.record().transpose())
                .collect();
            Ok((older.map(|entry| entry.version).min(), of_page?))
        })?;
        let (first, of_page) = page.ok_or_else(|| missing(wallet, last))?;
        below = first.ok_or_else(|| missing(wallet, last))?;
        records.extend(of_page);
    }
    Ok(records)
}
