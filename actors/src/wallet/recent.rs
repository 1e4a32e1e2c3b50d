//! The unfolded end of a wallet's history: entries as they were logged, with an index of their keys. They are kept in
//! blocks, each with its own index, so that forgetting folded entries drops whole blocks, however large.

use std::{
    collections::{HashMap, VecDeque},
    hash::BuildHasherDefault,
};

use domain::history::Record;
use persistence::{Entry, Error};

use crate::UniformHasher;

/// The size at which a new block begins: growing one copies its bytes and rehashes its index.
const BLOCK_BYTES: usize = 4 << 20;

/// Successive entries with an index.
#[derive(Default)]
struct EntryBlock {
    /// The versions of its first and last entry.
    first: u64,
    last: u64,
    /// Entries with a record, each after its length.
    bytes: Vec<u8>,
    /// The offset in `bytes` of the newest entry with a hash.
    by_hash: HashMap<u64, u32, BuildHasherDefault<UniformHasher>>,
    /// Hashes and offsets of older entries with a newer one's hash; practically always empty.
    shared: Vec<(u64, u32)>,
}

/// The unfolded entries of one wallet.
#[derive(Default)]
pub(crate) struct Recent {
    blocks: VecDeque<EntryBlock>,
    /// Whether a fold happened since the last entry: then the next one begins another block.
    moved: bool,
}

impl Recent {
    /// Adds a logged entry. Entries without a record are not needed here.
    pub(crate) fn push(&mut self, entry: &[u8]) {
        let Ok(head) = Entry::read(entry) else { return };
        if !head.has_record() {
            return;
        }
        let full = |last: &EntryBlock| self.moved || last.bytes.len() >= BLOCK_BYTES;
        if self.blocks.back().is_none_or(full) {
            self.blocks.push_back(EntryBlock {
                first: head.version,
                ..EntryBlock::default()
            });
            self.moved = false;
        }
        if let Some(last) = self.blocks.back_mut() {
            last.push(head, entry);
        }
    }

    /// Drops the blocks whose entries are all folded up to this version. Folded entries that stay do no harm.
    pub(crate) fn folded(&mut self, version: u64) {
        while self
            .blocks
            .front()
            .is_some_and(|block| block.last <= version)
        {
            self.blocks.pop_front();
        }
        self.moved = true;
        if self.blocks.is_empty() {
            self.blocks = VecDeque::new();
        }
    }

    /// The newest record with this hash for which `matches` holds.
    pub(crate) fn find(
        &self,
        hash: u64,
        matches: impl Fn(&Record) -> bool,
    ) -> Result<Option<Record>, Error> {
        for block in self.blocks.iter().rev() {
            let Some(newest) = block.by_hash.get(&hash) else {
                continue;
            };
            let others = block.shared.iter().rev();
            let others = others.filter(|(other, _)| *other == hash);
            let places = std::iter::once(newest).chain(others.map(|(_, place)| place));
            for place in places {
                let record = match block.at(*place) {
                    Some((entry, _)) => entry.record()?,
                    None => None,
                };
                if let Some(record) = record.filter(&matches) {
                    return Ok(Some(record));
                }
            }
        }
        Ok(None)
    }

    /// Records with numbers below `before`, newest first.
    pub(crate) fn newest_first(&self, before: u64) -> impl Iterator<Item = Result<Record, Error>> {
        let blocks = self.blocks.iter().rev();
        let older = blocks.filter(move |block| block.first < before);
        older.flat_map(move |block| {
            let entries: Vec<_> = block.entries().collect();
            let older = entries.into_iter().rev();
            let older = older.filter(move |entry| entry.version < before);
            older.filter_map(|entry| entry.record().transpose())
        })
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let blocks = self.blocks.iter();
        blocks.map(|block| block.entries().count()).sum()
    }

    /// The version of the oldest entry here.
    pub(crate) fn first(&self) -> Option<u64> {
        self.blocks.front().map(|block| block.first)
    }
}

impl EntryBlock {
    fn push(&mut self, head: Entry<'_>, entry: &[u8]) {
        // Both fit: a block has some megabytes, an entry less than an append's 56 KiB.
        let place = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let length = u16::try_from(entry.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(entry);
        self.last = head.version;
        if let Some(hash) = head.hash
            && let Some(older) = self.by_hash.insert(hash, place)
        {
            self.shared.push((hash, older));
        }
    }

    /// The entry at an offset, and the next one's offset.
    fn at(&self, place: u32) -> Option<(Entry<'_>, u32)> {
        let rest = self.bytes.get(place as usize..)?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let length = u16::from_be_bytes(*length);
        let entry = Entry::read(rest.get(..length.into())?).ok()?;
        Some((entry, place.checked_add(u32::from(length))?.checked_add(2)?))
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let (entry, after) = self.at(next)?;
            next = after;
            Some(entry)
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        history::{Entry as LedgerEntry, Reason, RecordContent, RecordKey},
        id::{ProductId, WalletKey},
        text::IdempotencyKey,
        wallet::{Change, Event},
    };
    use persistence::Append;

    use super::*;

    const WALLET: WalletKey = WalletKey([1; 16]);

    /// A deduction under a key, as it went to the log.
    fn push(recent: &mut Recent, version: u64, key: &str, hash: u64) {
        let product = ProductId(1);
        let key = IdempotencyKey::new(key).unwrap();
        let change = Change::Deducted {
            product,
            amount: 1,
            key: key.clone(),
            meta: None,
            rate: None,
            counted: None,
        };
        let at = Timestamp(0);
        let record = Record {
            seq: version,
            at,
            fact: RecordContent::Entry(LedgerEntry {
                product,
                delta: -1,
                balance_after: 0,
                reason: Reason::Deduction,
                order: None,
                key: Some(key),
                meta: None,
                expires_at: None,
                rate: None,
                counted: None,
            }),
        };
        let mut append = Append::default();
        let event = Event { at, change };
        let entry = append.begin(&WALLET, version, &event, Some(hash)).unwrap();
        recent.push(entry.finish(Some(&record), None).unwrap());
    }

    fn add(recent: &mut Recent, version: u64) {
        let key = format!("k{version}");
        push(recent, version, &key, RecordKey::Deduct(&key).hash(&WALLET));
    }

    fn version_of(recent: &Recent, key: &str) -> Option<u64> {
        let lookup = RecordKey::Deduct(key);
        let same = |record: &Record| record.lookup() == Some(lookup);
        let found = recent.find(lookup.hash(&WALLET), same).unwrap();
        found.map(|record| record.seq)
    }

    fn versions(recent: &Recent, before: u64) -> Vec<u64> {
        let records = recent.newest_first(before);
        records.map(|record| record.unwrap().seq).collect()
    }

    #[test]
    fn a_key_is_found_until_it_is_folded() {
        let mut recent = Recent::default();
        (5..=7).for_each(|version| add(&mut recent, version));
        recent.folded(4);
        (8..=9).for_each(|version| add(&mut recent, version));
        assert_eq!(version_of(&recent, "k7"), Some(7));
        assert_eq!(versions(&recent, 9), [8, 7, 6, 5]);
        recent.folded(7);
        assert_eq!(version_of(&recent, "k7"), None);
        assert_eq!(version_of(&recent, "k8"), Some(8));
        assert_eq!((recent.first(), versions(&recent, 9)), (Some(8), vec![8]));
        recent.folded(8);
        assert_eq!(version_of(&recent, "k9"), Some(9));
        recent.folded(9);
        assert_eq!((recent.first(), version_of(&recent, "k9")), (None, None));
    }

    /// However many entries a turn adds, folded ones are dropped after two more folds.
    #[test]
    fn forgetting_keeps_pace_with_batches() {
        let mut recent = Recent::default();
        let mut version = 0;
        for _ in 0..20 {
            for _ in 0..1000 {
                version += 1;
                add(&mut recent, version);
            }
            recent.folded(version - 500);
            let retained = version - recent.first().unwrap();
            assert!(retained < 2000, "{retained} entries are kept");
        }
        recent.folded(version);
        assert_eq!(recent.blocks.capacity(), 0);
    }

    #[test]
    fn of_two_entries_with_one_hash_the_newest_match_is_found() {
        let mut recent = Recent::default();
        let hash = RecordKey::Deduct("k1").hash(&WALLET);
        for (version, key) in [(1, "k1"), (2, "other"), (3, "k1"), (4, "another")] {
            push(&mut recent, version, key, hash);
        }
        assert_eq!(version_of(&recent, "k1"), Some(3));
        assert_eq!(recent.find(hash, |_| false).unwrap(), None);
    }
}
