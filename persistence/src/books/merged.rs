//! Entries laid over others: what changed lately over what is stored.

use std::{cmp::Ordering, iter::Peekable};

use crate::error::Error;

/// Merges changes and stored entries, which are in the same order. If both have a key the change counts; without a value
/// it hides the stored entry.
pub(crate) struct MergedEntries<Changes: Iterator, Stored: Iterator> {
    changes: Peekable<Changes>,
    stored: Peekable<Stored>,
    backward: bool,
}

impl<K, V, Changes, Stored> MergedEntries<Changes, Stored>
where
    Changes: Iterator<Item = (K, Option<V>)>,
    Stored: Iterator<Item = Result<(K, V), Error>>,
{
    pub(crate) fn new(changes: Changes, stored: Stored, backward: bool) -> Self {
        Self {
            changes: changes.peekable(),
            stored: stored.peekable(),
            backward,
        }
    }
}

impl<K: Ord, V, Changes, Stored> Iterator for MergedEntries<Changes, Stored>
where
    Changes: Iterator<Item = (K, Option<V>)>,
    Stored: Iterator<Item = Result<(K, V), Error>>,
{
    type Item = Result<(K, V), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let order = match (self.changes.peek(), self.stored.peek()) {
                (None, _) | (_, Some(Err(_))) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some((change, _)), Some(Ok((stored, _)))) if self.backward => stored.cmp(change),
                (Some((change, _)), Some(Ok((stored, _)))) => change.cmp(stored),
            };
            match order {
                Ordering::Greater => return self.stored.next(),
                Ordering::Equal => drop(self.stored.next()),
                Ordering::Less => {}
            }
            let (key, value) = self.changes.next()?;
            if let Some(value) = value {
                return Some(Ok((key, value)));
            }
        }
    }
}
