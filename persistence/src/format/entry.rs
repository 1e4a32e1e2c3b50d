//! One thing that happened to a wallet, in the one form that the log and the ledger's pages share: a
//! checkpoint moves these bytes and looks at their head alone. What a ledger reader sees (the balance after
//! it, say) is written with the event, so that nothing is ever replayed to read a page.
//!
//! ```text
//! u8        version of the body (upper half) and flags (lower half)
//! varint    the wallet's version after it: its number in the wallet's history
//! [u8;8]    the look-up hash, big-endian, where its record can be found by a key
//! body      the event, what its record says beyond it, and what it moved in lists
//! ```

use domain::{
    Timestamp,
    history::{self, Record},
    wallet::{Change, Event},
};

use super::{
    body::{self, DecodedEntry},
    codec::{FORMAT, known},
    item,
};
use crate::{error::Error, lookups::ListChange, usage::SalesChange};

const RECORD: u8 = 1;
const KEYED: u8 = 1 << 1;
const LISTED: u8 = 1 << 2;
/// The event moved something in lists, which the body says.
const MOVED: u8 = 1 << 3;

pub(crate) type Counted = (Option<(Timestamp, history::Entry)>, Option<SalesChange>);

/// An entry's head, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    flags: u8,
    /// The wallet's version after it.
    pub version: u64,
    /// The look-up hash of its record, if the record has a key.
    pub hash: Option<u64>,
    body: &'a [u8],
}

/// An entry that was begun; its record is still to be written.
#[derive(Clone, Copy)]
pub(crate) struct EntryHeader {
    flags: u8,
    after: body::RecordDerivation,
}

impl EntryHeader {
    pub(crate) const fn is_listed(self) -> bool {
        self.flags & LISTED != 0
    }
}

/// Begins an entry at the end of `bytes`, before its event is applied.
pub(crate) fn begin(
    bytes: &mut Vec<u8>,
    version: u64,
    event: &Event,
    hash: Option<u64>,
) -> Result<EntryHeader, Error> {
    let flags = flag(hash.is_some(), KEYED) | flag(is_listed(&event.change), LISTED);
    bytes.push((FORMAT << 4) | flags);
    write_varint(bytes, version);
    if let Some(hash) = hash {
        bytes.extend_from_slice(&hash.to_be_bytes());
    }
    let after = body::write_event(bytes, event)?;
    Ok(EntryHeader { flags, after })
}

/// Ends the entry that began at `start`, with the record that its event left and what it moved in lists.
pub(crate) fn end(
    bytes: &mut Vec<u8>,
    start: usize,
    header: EntryHeader,
    record: Option<&Record>,
    moved: Option<&ListChange>,
) -> Result<(), Error> {
    if let Some(flags) = bytes.get_mut(start) {
        *flags |= flag(record.is_some(), RECORD) | flag(moved.is_some(), MOVED);
    }
    body::write_after(bytes, header.after, record, moved)
}

const fn flag(set: bool, flag: u8) -> u8 {
    if set { flag } else { 0 }
}

/// Whether an event may change look-ups: almost none of a busy wallet does.
const fn is_listed(change: &Change) -> bool {
    !matches!(
        change,
        Change::Deducted { .. }
            | Change::Granted { .. }
            | Change::FreeGranted { .. }
            | Change::LotExpired { .. }
            | Change::HoldPlaced { .. }
            | Change::HoldExtended { .. }
            | Change::HoldSettled { .. }
            | Change::HoldReleased { .. }
            | Change::HoldExpired { .. }
            | Change::HoldDrawn { .. }
            | Change::Charged(_)
            | Change::Forgiven { .. }
            | Change::DebtLimitChanged { .. }
            | Change::Frozen { .. }
            | Change::Unfrozen
            | Change::DeductionReversed(_)
            | Change::ReversedInAll { .. }
            | Change::Instructed(_)
    )
}

/// A whole entry, for tests.
#[cfg(test)]
pub(crate) fn write(
    bytes: &mut Vec<u8>,
    version: u64,
    event: &Event,
    record: Option<&Record>,
    hash: Option<u64>,
    moved: Option<&ListChange>,
) -> Result<(), Error> {
    let start = bytes.len();
    let header = begin(bytes, version, event, hash)?;
    end(bytes, start, header, record, moved)
}

impl<'a> Entry<'a> {
    /// Reads the head of an entry.
    /// # Errors
    /// [`Error::Damaged`] where it is cut short.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::head(bytes).ok_or_else(|| Error::Damaged("an entry is cut short".into()))
    }

    fn head(bytes: &'a [u8]) -> Option<Self> {
        let (flags, rest) = bytes.split_first()?;
        let (version, rest) = read_varint(rest)?;
        let (hash, body) = match flags & KEYED {
            0 => (None, rest),
            _ => {
                let (hash, rest) = rest.split_first_chunk::<8>()?;
                (Some(u64::from_be_bytes(*hash)), rest)
            }
        };
        Some(Self {
            flags: *flags,
            version,
            hash,
            body,
        })
    }

    /// Whether the event left a record.
    pub const fn has_record(&self) -> bool {
        self.flags & RECORD != 0
    }

    pub(crate) const fn is_listed(&self) -> bool {
        self.flags & (LISTED | MOVED) != 0
    }

    const fn has_moved(&self) -> bool {
        self.flags & MOVED != 0
    }

    pub(crate) fn decode(&self) -> Result<DecodedEntry, Error> {
        self.check()?;
        body::read_body(self.body, self.version, self.has_moved())
    }

    /// What counts in usage: the ledger entry that its event left, with its instant, and what it changed in sales.
    pub(crate) fn counted(&self) -> Result<Counted, Error> {
        if !self.has_record() && !self.has_moved() {
            return Ok((None, None));
        }
        self.check()?;
        let (entry, moved) = body::read_ledger_entry(self.body, self.has_moved())?;
        Ok((entry, moved.and_then(|moved| SalesChange::of(&moved))))
    }

    fn check(&self) -> Result<(), Error> {
        known(self.flags >> 4, "an entry of a wallet")
    }

    /// The record that its event left.
    /// # Errors
    /// [`Error::Damaged`] or [`Error::Unusable`] where this version of Scrip cannot read it.
    pub fn record(&self) -> Result<Option<Record>, Error> {
        if self.has_record() {
            return Ok(self.decode()?.record);
        }
        Ok(None)
    }
}

/// Entries one after the other, each after its length.
pub(crate) struct Entries<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = Result<(Entry<'a>, &'a [u8]), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((bytes, rest)) = item::long(self.0) else {
            self.0 = &[];
            return Some(Err(Error::Damaged(
                "entries end in the middle of one".into(),
            )));
        };
        self.0 = rest;
        Some(Entry::read(bytes).map(|entry| (entry, bytes)))
    }
}

/// Appends an entry after its length. Entries of the log fit sixteen bits because appends do.
pub(crate) fn push(bytes: &mut Vec<u8>, entry: &[u8]) {
    let length = u16::try_from(entry.len()).unwrap_or(u16::MAX);
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(entry);
}

/// How many bytes [`push`] adds.
pub(crate) const fn pushed_bytes(entry: &[u8]) -> usize {
    entry.len() + 2
}

/// LEB128: seven bits a byte, the lowest first; the highest bit says that more follow.
fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut rest = bytes;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some((value, rest));
        }
    }
    None
}
