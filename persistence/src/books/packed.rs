//! A sorted set of small entries, many to a page, because a sled record for each would cost 65 bytes of memory and
//! the rewrite of a leaf. A page is stored under its fence: it holds what is at or past its own fence and before the
//! next page's. Entries past that are ignored, so that a page is split by writing the upper pages first and then the
//! lower one, and merged by writing both as one and then removing the upper one: a crash in between shows nothing
//! twice and loses nothing.

use std::iter::Peekable;

use parking_lot::RwLock;

use super::writes::{Writes, damaged, io};
use crate::{
    error::Error,
    format::codec::{pack, unpack},
};

pub(super) type PackedEntry<const K: usize, const V: usize> = ([u8; K], [u8; V]);
/// An entry to put (`Some`) or to take out (`None`).
pub(super) type PackedChange<const K: usize, const V: usize> = ([u8; K], Option<[u8; V]>);

/// A set with keys of `K` bytes and values of `V` bytes, in a tree of its own.
pub(super) struct Packed<const K: usize, const V: usize> {
    tree: sled::Tree,
    /// Most bytes of a page's entries before they are packed.
    page_bytes: usize,
    /// Held while a page and its neighbours change: a reader sees all of it or nothing.
    turn: RwLock<()>,
}

/// A page, or an empty one where the first one would be.
struct Page<const K: usize, const V: usize> {
    fence: [u8; K],
    next: Option<[u8; K]>,
    entries: Vec<PackedEntry<K, V>>,
}

impl<const K: usize, const V: usize> Packed<K, V> {
    pub(super) const fn new(tree: sled::Tree, page_bytes: usize) -> Self {
        Self {
            tree,
            page_bytes,
            turn: RwLock::new(()),
        }
    }

    pub(super) fn value(&self, key: &[u8; K]) -> Result<Option<[u8; V]>, Error> {
        let _turn = self.turn.read();
        let Some((_, bytes)) = self.stored(key)? else {
            return Ok(None);
        };
        let entries = decode::<K, V>(&bytes)?;
        let position = entries.binary_search_by(|(other, _)| other.cmp(key)).ok();
        Ok(position.and_then(|place| entries.get(place).map(|(_, value)| *value)))
    }

    /// Entries from this key on, in order.
    pub(super) fn forward(
        &self,
        from: [u8; K],
    ) -> impl Iterator<Item = Result<PackedEntry<K, V>, Error>> + use<'_, K, V> {
        let mut cursor = Some(from);
        pages(move || {
            let Some(from) = cursor else { return Ok(None) };
            let _turn = self.turn.read();
            let page = self.page(&from)?;
            cursor = page.next;
            let mut entries = page.entries;
            let below = entries.partition_point(|(key, _)| *key < from);
            entries.drain(..below);
            Ok(Some(entries))
        })
    }

    /// Entries before this key, the last one first.
    pub(super) fn backward(
        &self,
        before: [u8; K],
    ) -> impl Iterator<Item = Result<PackedEntry<K, V>, Error>> + use<'_, K, V> {
        let mut cursor = before;
        pages(move || {
            let _turn = self.turn.read();
            let Some((fence, bytes)) = self.tree.get_lt(cursor).map_err(io)? else {
                return Ok(None);
            };
            // The next page's fence is not before the cursor.
            let mut entries = decode::<K, V>(&bytes)?;
            entries.truncate(entries.partition_point(|(key, _)| *key < cursor));
            entries.reverse();
            cursor = read_key(&fence)?;
            Ok(Some(entries))
        })
    }

    /// Inserts and removes entries, which come in order. Each page is written once; what is there or gone already
    /// changes nothing and writes nothing.
    pub(super) fn apply(
        &self,
        writes: &Writes,
        changes: impl Iterator<Item = PackedChange<K, V>>,
    ) -> Result<(), Error> {
        let mut rest = changes.peekable();
        while let Some((first, _)) = rest.peek() {
            let _turn = self.turn.write();
            let page = self.page(first)?;
            let (entries, changed) = merged(&page, &mut rest);
            if changed {
                self.replace(writes, &page, entries)?;
            }
        }
        Ok(())
    }

    fn stored(&self, key: &[u8; K]) -> Result<Option<(sled::IVec, sled::IVec)>, Error> {
        let page = self.tree.range(..=key.as_slice()).next_back();
        page.transpose().map_err(io)
    }

    /// The page that this key belongs to, without entries that belong to the next one.
    fn page(&self, key: &[u8; K]) -> Result<Page<K, V>, Error> {
        let (fence, mut entries) = match self.stored(key)? {
            Some((fence, bytes)) => (read_key(&fence)?, decode(&bytes)?),
            None => ([0; K], Vec::new()),
        };
        let next = match self.tree.get_gt(fence).map_err(io)? {
            Some((next, _)) => Some(read_key(&next)?),
            None => None,
        };
        let sorted = entries.is_sorted_by(|(one, _), (other, _)| one < other);
        if !sorted || entries.first().is_some_and(|(key, _)| *key < fence) {
            let name = String::from_utf8_lossy(&self.tree.name()).into_owned();
            return Err(damaged(format!("a page of {name} is not in order")));
        }
        if let Some(next) = next {
            entries.truncate(entries.partition_point(|(key, _)| *key < next));
        }
        Ok(Page {
            fence,
            next,
            entries,
        })
    }

    /// Entries that fit a page.
    fn capacity(&self) -> usize {
        let entry = K + V;
        self.page_bytes.checked_div(entry).unwrap_or(0).max(4)
    }

    fn replace(
        &self,
        writes: &Writes,
        page: &Page<K, V>,
        mut entries: Vec<PackedEntry<K, V>>,
    ) -> Result<(), Error> {
        let most = self.capacity();
        if entries.len() > most {
            return self.split(writes, page, &entries, most);
        }
        if entries.len() >= most / 4 {
            return self.put(writes, &page.fence, &entries);
        }
        let Some((before, mut neighbour)) = self.before(&page.fence)? else {
            return match entries.is_empty() {
                true => writes.remove(&self.tree, page.fence),
                false => self.put(writes, &page.fence, &entries),
            };
        };
        let own = neighbour.partition_point(|(key, _)| *key < page.fence);
        let stale = own < neighbour.len();
        neighbour.truncate(own);
        let together = neighbour.len() + entries.len();
        if entries.is_empty() {
            // Entries of this page that the one before still has would be seen again: they go first.
            if stale {
                self.put(writes, &before, &neighbour)?;
            }
        } else if together <= most / 2 {
            neighbour.append(&mut entries);
            self.put(writes, &before, &neighbour)?;
        } else {
            return self.put(writes, &page.fence, &entries);
        }
        writes.remove(&self.tree, page.fence)
    }

    #[expect(clippy::type_complexity, reason = "a fence and its entries")]
    fn before(&self, fence: &[u8; K]) -> Result<Option<([u8; K], Vec<PackedEntry<K, V>>)>, Error> {
        let page = self.tree.get_lt(fence).map_err(io)?;
        page.map(|(before, bytes)| Ok((read_key(&before)?, decode(&bytes)?)))
            .transpose()
    }

    /// Splits a page, writing the upper pages first. At the tree's right edge pages are filled,
    /// because later entries come after them.
    fn split(
        &self,
        writes: &Writes,
        page: &Page<K, V>,
        entries: &[PackedEntry<K, V>],
        most: usize,
    ) -> Result<(), Error> {
        let each = match page.next {
            None => most,
            Some(_) => entries.len().div_ceil(entries.len().div_ceil(most)),
        };
        let mut chunks = entries.chunks(each);
        let lower = chunks.next().unwrap_or_default();
        for chunk in chunks.rev() {
            if let Some((fence, _)) = chunk.first() {
                self.put(writes, fence, chunk)?;
            }
        }
        self.put(writes, &page.fence, lower)
    }

    fn put(
        &self,
        writes: &Writes,
        fence: &[u8; K],
        entries: &[PackedEntry<K, V>],
    ) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity(self.page_bytes);
        for (key, value) in entries {
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(value);
        }
        writes.put(&self.tree, fence, pack(&bytes))
    }
}

/// Applies the changes that belong to a page; returns its entries, and whether they changed.
fn merged<const K: usize, const V: usize>(
    page: &Page<K, V>,
    changes: &mut Peekable<impl Iterator<Item = PackedChange<K, V>>>,
) -> (Vec<PackedEntry<K, V>>, bool) {
    let mut entries = Vec::with_capacity(page.entries.len());
    let mut rest = page.entries.as_slice();
    let mut changed = false;
    let belongs = |key: &[u8; K]| page.next.is_none_or(|next| *key < next);
    while let Some((key, value)) = changes.next_if(|(key, _)| belongs(key)) {
        let (below, after) = rest
            .split_at_checked(rest.partition_point(|(other, _)| *other < key))
            .unwrap_or((rest, &[]));
        entries.extend_from_slice(below);
        let (former, after) = match after.split_first() {
            Some(((other, former), after)) if *other == key => (Some(*former), after),
            _ => (None, after),
        };
        entries.extend(value.map(|value| (key, value)));
        changed |= former != value;
        rest = after;
    }
    entries.extend_from_slice(rest);
    (entries, changed)
}

/// The entries of all pages that `next` gives until it gives none. An error is the last item.
fn pages<T>(
    mut next: impl FnMut() -> Result<Option<Vec<T>>, Error>,
) -> impl Iterator<Item = Result<T, Error>> {
    let mut page = Vec::new().into_iter();
    let mut over = false;
    std::iter::from_fn(move || {
        loop {
            if let Some(entry) = page.next() {
                return Some(Ok(entry));
            }
            if over {
                return None;
            }
            match next() {
                Ok(Some(entries)) => page = entries.into_iter(),
                Ok(None) => over = true,
                Err(error) => {
                    over = true;
                    return Some(Err(error));
                }
            }
        }
    })
}

pub(super) fn read_key<const K: usize>(fence: &[u8]) -> Result<[u8; K], Error> {
    fence
        .try_into()
        .map_err(|_| damaged("a packed page has a key of another length".into()))
}

fn decode<const K: usize, const V: usize>(bytes: &[u8]) -> Result<Vec<PackedEntry<K, V>>, Error> {
    let bytes = unpack(bytes, "a packed page")?;
    let mut rest = bytes.as_slice();
    let entry = K + V;
    let mut entries = Vec::with_capacity(rest.len().checked_div(entry).unwrap_or(0));
    while !rest.is_empty() {
        let split = rest.split_first_chunk::<K>();
        let split = split.and_then(|(key, rest)| Some((key, rest.split_first_chunk::<V>()?)));
        let (key, (value, after)) =
            split.ok_or_else(|| damaged("a packed page is cut short".into()))?;
        entries.push((*key, *value));
        rest = after;
    }
    Ok(entries)
}
