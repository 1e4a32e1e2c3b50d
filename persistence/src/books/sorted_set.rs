//! A sorted set of small entries that change in any order: pages, and a list of changes that are not in them yet.

use std::cmp::Ordering;

use super::{
    packed::{Packed, PackedChange, PackedEntry, read_key},
    pending_list::PendingList,
    writes::Writes,
};
use crate::{
    error::Error,
    lookups::{Changes, EachEntry, LookUpRange, Value, merge},
    tuning::Tuning,
};

/// A sorted set of entries of any width.
pub(crate) trait Set: Send + Sync {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, Error>;

    /// Calls `each` with entries, in the range's order, until it returns false. It may change the set.
    fn range(&self, range: &LookUpRange, each: &mut EachEntry<'_>) -> Result<(), Error>;

    /// Inserts and removes entries, and leaves them on the pending list.
    fn apply(&self, writes: &Writes, changes: &Changes) -> Result<(), Error>;

    fn pending_bytes(&self) -> usize;

    /// Moves the pending list into pages. Each page is written once; what is there or gone already changes none.
    fn merge_pending(&self, writes: &Writes) -> Result<(), Error>;
}

/// A set with keys of `K` bytes and values of `V` bytes.
pub(crate) struct SortedSet<const K: usize, const V: usize> {
    pages: Packed<K, V>,
    pending: PendingList<K, V>,
}

impl<const K: usize, const V: usize> SortedSet<K, V> {
    pub(crate) fn open(
        pages: sled::Tree,
        pending: sled::Tree,
        tuning: &Tuning,
    ) -> Result<Self, Error> {
        Ok(Self {
            pages: Packed::new(pages, tuning.packed_bytes),
            pending: PendingList::open(pending, tuning.page_bytes)?,
        })
    }
}

impl<const K: usize, const V: usize> Set for SortedSet<K, V> {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, Error> {
        let key = read_key(key)?;
        let value = match self.pending.get(&key) {
            Some(pending) => pending,
            None => self.pages.value(&key)?,
        };
        Ok(value.map(Into::into))
    }

    fn range(&self, range: &LookUpRange, each: &mut EachEntry<'_>) -> Result<(), Error> {
        // In both, the pending list is read first: what leaves it then is in the pages.
        match range {
            LookUpRange::From(key) => {
                let from = read_key(key)?;
                let pending = self.pending.forward(from);
                let stored = |each: &mut EachEntry<'_>| pass(self.pages.forward(from), each);
                merge(pending, Ordering::Less, stored, each)
            }
            LookUpRange::Before(key) => {
                let before = read_key(key)?;
                let pending = self.pending.backward(before);
                let stored = |each: &mut EachEntry<'_>| pass(self.pages.backward(before), each);
                merge(pending, Ordering::Greater, stored, each)
            }
        }
    }

    fn apply(&self, writes: &Writes, changes: &Changes) -> Result<(), Error> {
        let changes = changes.iter().map(|(key, value)| {
            let value = value.as_deref().map(read_key).transpose()?;
            Ok((read_key(key)?, value))
        });
        let changes: Result<Vec<PackedChange<K, V>>, Error> = changes.collect();
        self.pending.add(writes, changes?)
    }

    fn pending_bytes(&self) -> usize {
        self.pending.bytes()
    }

    fn merge_pending(&self, writes: &Writes) -> Result<(), Error> {
        self.pages.apply(writes, self.pending.all())?;
        self.pending.clear(writes)
    }
}

fn pass<const K: usize, const V: usize>(
    entries: impl Iterator<Item = Result<PackedEntry<K, V>, Error>>,
    each: &mut EachEntry<'_>,
) -> Result<(), Error> {
    for entry in entries {
        let (key, value) = entry?;
        if !each(&key, &value) {
            break;
        }
    }
    Ok(())
}
