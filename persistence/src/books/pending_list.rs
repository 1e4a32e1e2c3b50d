//! Changes of a sorted set that are not in its pages yet, as PostgreSQL's GIN indexes have them. Keys come in any order,
//! so that the changes of one checkpoint are on nearly as many pages; those of many checkpoints share their pages' rewrites.
//!
//! They are in memory, and in records that are written once and removed together:
//!
//! ```text
//! number        changes, by key, packed: key, 1, value; or key, 0 for what is taken out
//! ```

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use parking_lot::{Mutex, RwLock};

use super::{
    packed::{PackedChange, read_key},
    writes::{Writes, damaged, io},
};
use crate::{
    error::Error,
    format::codec::{pack, unpack},
};

/// What a record costs beside its changes, on the disk and when it is read at the start.
const RECORD_BYTES: usize = 256;

const PUT: u8 = 1;
const TAKEN_OUT: u8 = 0;

type Changes<const K: usize, const V: usize> = BTreeMap<[u8; K], Option<[u8; V]>>;

/// Changes of a set with keys of `K` bytes and values of `V` bytes, in a tree of its own.
pub(super) struct PendingList<const K: usize, const V: usize> {
    tree: sled::Tree,
    /// Bytes of a record, at most.
    record_bytes: usize,
    /// Readers take what there is: it is copied if it changes.
    changes: RwLock<Arc<Changes<K, V>>>,
    stored: Mutex<Stored>,
}

#[derive(Default)]
struct Stored {
    /// The number of the next one. Later ones count.
    next: u64,
    /// What they cost: their changes before they are packed, and [`RECORD_BYTES`] for each.
    bytes: usize,
}

impl<const K: usize, const V: usize> PendingList<K, V> {
    pub(super) fn open(tree: sled::Tree, record_bytes: usize) -> Result<Self, Error> {
        let mut changes = Changes::new();
        let mut stored = Stored::default();
        for record in &tree {
            let (number, bytes) = record.map_err(io)?;
            let number = u64::from_be_bytes(read_key(&number)?);
            stored.next = after(number)?;
            stored.count::<K, V>(decode(&bytes, &mut changes)?);
        }
        Ok(Self {
            tree,
            record_bytes,
            changes: RwLock::new(Arc::new(changes)),
            stored: Mutex::new(stored),
        })
    }

    pub(super) fn get(&self, key: &[u8; K]) -> Option<Option<[u8; V]>> {
        self.changes.read().get(key).copied()
    }

    /// Changes from this key on, in order, as they are now.
    pub(super) fn forward(
        &self,
        from: [u8; K],
    ) -> impl Iterator<Item = PackedChange<K, V>> + use<K, V> {
        let changes = Arc::clone(&self.changes.read());
        let mut from = Bound::Included(from);
        std::iter::from_fn(move || {
            let (key, value) = changes.range((from, Bound::Unbounded)).next()?;
            from = Bound::Excluded(*key);
            Some((*key, *value))
        })
    }

    /// Changes before this key, the last one first, as they are now.
    pub(super) fn backward(
        &self,
        mut before: [u8; K],
    ) -> impl Iterator<Item = PackedChange<K, V>> + use<K, V> {
        let changes = Arc::clone(&self.changes.read());
        std::iter::from_fn(move || {
            let (key, value) = changes.range(..before).next_back()?;
            before = *key;
            Some((*key, *value))
        })
    }

    /// Writes changes, in order, and adds them. Those that are in the list already are not written.
    pub(super) fn add(
        &self,
        writes: &Writes,
        mut new: Vec<PackedChange<K, V>>,
    ) -> Result<(), Error> {
        {
            let changes = self.changes.read();
            new.retain(|(key, value)| changes.get(key) != Some(value));
        }
        let mut stored = self.stored.lock();
        let at_once = self.record_bytes.checked_div(most::<K, V>());
        for some in new.chunks(at_once.unwrap_or(0).max(1)) {
            writes.put(&self.tree, stored.next.to_be_bytes(), encode(some))?;
            stored.count::<K, V>(some.len());
            stored.next = after(stored.next)?;
        }
        drop(stored);
        if !new.is_empty() {
            Arc::make_mut(&mut *self.changes.write()).extend(new);
        }
        Ok(())
    }

    /// What its changes and records cost, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.stored.lock().bytes
    }

    pub(super) fn all(&self) -> impl Iterator<Item = PackedChange<K, V>> + use<K, V> {
        self.forward([0; K])
    }

    /// Forgets all changes, which are in pages now. The oldest records go first: those that a crash leaves have the last
    /// change of each of their keys.
    pub(super) fn clear(&self, writes: &Writes) -> Result<(), Error> {
        *self.changes.write() = Arc::default();
        let mut stored = self.stored.lock();
        writes.remove_all(&self.tree, &[])?;
        *stored = Stored::default();
        Ok(())
    }
}

/// The number of the record after this one: one that came back would be overwritten.
fn after(number: u64) -> Result<u64, Error> {
    let next = number.checked_add(1);
    next.ok_or_else(|| damaged("the numbers of a list's records are used up".into()))
}

impl Stored {
    const fn count<const K: usize, const V: usize>(&mut self, changes: usize) {
        let bytes = changes.saturating_mul(most::<K, V>());
        let bytes = bytes.saturating_add(RECORD_BYTES);
        self.bytes += bytes;
    }
}

/// The most bytes of a change.
const fn most<const K: usize, const V: usize>() -> usize {
    K.saturating_add(V).saturating_add(1)
}

fn encode<const K: usize, const V: usize>(changes: &[PackedChange<K, V>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(changes.len().saturating_mul(most::<K, V>()));
    for (key, value) in changes {
        bytes.extend_from_slice(key);
        match value {
            Some(value) => {
                bytes.push(PUT);
                bytes.extend_from_slice(value);
            }
            None => bytes.push(TAKEN_OUT),
        }
    }
    pack(&bytes)
}

/// Adds the changes of a record; returns how many there are.
fn decode<const K: usize, const V: usize>(
    bytes: &[u8],
    into: &mut Changes<K, V>,
) -> Result<usize, Error> {
    let mut count = 0_usize;
    let bytes = unpack(bytes, "pending changes")?;
    let mut rest = bytes.as_slice();
    let short = || damaged("pending changes are cut short".into());
    while !rest.is_empty() {
        let (key, after) = rest.split_first_chunk::<K>().ok_or_else(short)?;
        let (value, after) = match after.split_first().ok_or_else(short)? {
            (&TAKEN_OUT, after) => (None, after),
            (&PUT, after) => {
                let (value, after) = after.split_first_chunk::<V>().ok_or_else(short)?;
                (Some(*value), after)
            }
            _ => return Err(damaged("a pending change is of no known kind".into())),
        };
        into.insert(*key, value);
        count += 1;
        rest = after;
    }
    Ok(count)
}
