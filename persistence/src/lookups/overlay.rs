//! Entries that were appended and are not applied yet, laid over the look-ups that are stored: an order is found as
//! soon as it is logged.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use parking_lot::RwLock;

use super::{
    entry_batch::{EachEntry, EntryBatch},
    merged::merge,
    spec::{Key, LookUp, LookUpChange, LookUpRange, Value},
};
use crate::error::Error;

#[derive(Default)]
pub(crate) struct Overlay(RwLock<OverlayState>);

#[derive(Default)]
struct OverlayState {
    sets: BTreeMap<LookUp, Set>,
    /// Entries to remove once their ticket is applied.
    appended: BTreeSet<(u64, LookUp, Key)>,
}

/// The ticket of entries that are about to be appended: no checkpoint reaches it.
pub(crate) const UNASSIGNED_TICKET: u64 = u64::MAX;

type Set = BTreeMap<Key, (Option<Value>, u64)>;

impl Overlay {
    /// Adds what an append is about to change, so that it is found before any caller can learn of
    /// it. Not within the log's own lock, for a reader may hold this one while it reads the disk.
    pub(crate) fn add(&self, listed: &[LookUpChange]) {
        if listed.is_empty() {
            return;
        }
        let mut parts = self.0.write();
        for LookUpChange {
            look_up,
            key,
            value,
        } in listed
        {
            let set = parts.sets.entry(*look_up).or_default();
            set.insert(key.clone(), (value.clone(), UNASSIGNED_TICKET));
        }
    }

    pub(crate) fn appended(&self, listed: Vec<LookUpChange>, ticket: u64) {
        if listed.is_empty() {
            return;
        }
        let mut parts = self.0.write();
        for LookUpChange { look_up, key, .. } in listed {
            let set = parts.sets.entry(look_up).or_default();
            if let Some((_, last)) = set.get_mut(&key) {
                *last = ticket;
                parts.appended.insert((ticket, look_up, key));
            }
        }
    }

    /// Removes entries up to this ticket, which the stored look-ups have now.
    pub(crate) fn applied(&self, ticket: u64) {
        if self.0.read().appended.is_empty() {
            return;
        }
        let mut parts = self.0.write();
        while parts
            .appended
            .first()
            .is_some_and(|first| first.0 <= ticket)
        {
            let Some((_, look_up, key)) = parts.appended.pop_first() else {
                break;
            };
            if let Some(set) = parts.sets.get_mut(&look_up)
                && set.get(&key).is_some_and(|(_, last)| *last <= ticket)
            {
                set.remove(&key);
            }
        }
    }

    /// What is not applied yet under a key; `Some(None)`: the key was taken out.
    pub(crate) fn find(&self, look_up: LookUp, key: &[u8]) -> Option<Option<Value>> {
        let parts = self.0.read();
        let (value, _) = parts.sets.get(&look_up)?.get(key)?;
        Some(value.clone())
    }

    /// At most `limit` of the stored entries and these, in the range's order. Entries that are
    /// applied in the meantime stay here until this ends.
    pub(crate) fn merged(
        &self,
        look_up: LookUp,
        range: &LookUpRange,
        limit: usize,
        stored: impl FnOnce(&mut EachEntry<'_>) -> Result<(), Error>,
    ) -> Result<EntryBatch, Error> {
        let parts = self.0.read();
        let nothing = Set::new();
        let set = parts.sets.get(&look_up).unwrap_or(&nothing);
        let mut batch = EntryBatch::new(look_up);
        let mut left = limit;
        let each = &mut |key: &[u8], value: &[u8]| {
            if let Some(less) = left.checked_sub(1) {
                batch.push(key, value);
                left = less;
            }
            left > 0
        };
        match range {
            LookUpRange::From(key) => {
                let from = (Bound::Included(&**key), Bound::Unbounded);
                let pending = set.range::<[u8], _>(from).map(change);
                merge(pending, Ordering::Less, stored, each)?;
            }
            LookUpRange::Before(key) => {
                let before = (Bound::Unbounded, Bound::Excluded(&**key));
                let pending = set.range::<[u8], _>(before).rev().map(change);
                merge(pending, Ordering::Greater, stored, each)?;
            }
        }
        Ok(batch)
    }
}

/// What a key's latest change leaves under it.
fn change<'a>(
    (key, (value, _)): (&'a Key, &'a (Option<Value>, u64)),
) -> (&'a Key, Option<&'a Value>) {
    (key, value.as_ref())
}
