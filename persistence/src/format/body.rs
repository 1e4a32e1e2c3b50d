//! The body of an entry: an event, what its record says beyond it, and what it moved in lists.

use std::borrow::Cow;

use domain::{
    history::{Entry, HoldRate, HoldSnapshot, HoldStatus, Reason, Record, RecordContent},
    limit::Counted,
    time::Timestamp,
    wallet::{Change, Event, TakenLot},
};
use serde::{Deserialize, Serialize};

use super::codec::{decode_all, encode_into};
use crate::{error::Error, lookups::ListChange};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecodedEntry {
    pub(crate) event: Event,
    pub(crate) record: Option<Record>,
    pub(crate) moved: Option<Box<ListChange>>,
}

/// What a record says beyond its event.
#[derive(Serialize, Deserialize)]
#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, on the stack: a box would cost every record an allocation"
)]
enum After<'a> {
    Nothing,
    /// A ledger entry that follows from the event and the balance after it.
    Balance(i64),
    /// The same, with the lots that a deduction names.
    Lots(i64, Cow<'a, [TakenLot]>),
    /// A placed hold's record, which follows from the event.
    Hold,
    /// Something that does not follow from the event.
    Fact(Cow<'a, RecordContent>),
}

/// How a record follows from its event.
#[derive(Clone, Copy)]
pub(super) enum RecordDerivation {
    /// It is the event's ledger entry, except for the balance.
    Balance,
    Hold,
    Not,
}

pub(super) fn write_event(bytes: &mut Vec<u8>, event: &Event) -> Result<RecordDerivation, Error> {
    encode_into(bytes, event)?;
    Ok(match &event.change {
        Change::Deducted { .. } | Change::Granted { .. } | Change::FreeGranted { .. } => {
            RecordDerivation::Balance
        }
        Change::HoldPlaced { .. } => RecordDerivation::Hold,
        _ => RecordDerivation::Not,
    })
}

pub(super) fn write_after(
    bytes: &mut Vec<u8>,
    follows: RecordDerivation,
    record: Option<&Record>,
    moved: Option<&ListChange>,
) -> Result<(), Error> {
    let after = match (record.map(|record| &record.fact), follows) {
        (None, _) => After::Nothing,
        (Some(RecordContent::Entry(entry)), RecordDerivation::Balance) => {
            After::Balance(entry.balance_after)
        }
        (Some(RecordContent::Deducted(entry, lots)), RecordDerivation::Balance) => {
            After::Lots(entry.balance_after, Cow::Borrowed(lots))
        }
        (Some(RecordContent::HoldPlaced(..)), RecordDerivation::Hold) => After::Hold,
        (Some(fact), _) => After::Fact(Cow::Borrowed(fact)),
    };
    encode_into(bytes, &after)?;
    moved.map_or(Ok(()), |moved| encode_into(bytes, moved))
}

type Body<'a> = (Event, After<'a>, Option<Box<ListChange>>);

fn read_parts(bytes: &[u8], has_moved: bool) -> Result<Body<'_>, Error> {
    if has_moved {
        let (event, after, moved) = decode_all::<(Event, After<'_>, Box<ListChange>)>(bytes)?;
        return Ok((event, after, Some(moved)));
    }
    let (event, after) = decode_all(bytes)?;
    Ok((event, after, None))
}

pub(super) fn read_body(
    bytes: &[u8],
    version: u64,
    has_moved: bool,
) -> Result<DecodedEntry, Error> {
    let (event, after, moved) = read_parts(bytes, has_moved)?;
    let fact = match after {
        After::Nothing => None,
        After::Fact(fact) => Some(fact.into_owned()),
        After::Balance(balance) => {
            let entry = entry(event.change.clone(), balance);
            Some(RecordContent::Entry(entry.ok_or_else(unfit)?))
        }
        After::Lots(balance, lots) => {
            let entry = entry(event.change.clone(), balance).ok_or_else(unfit)?;
            Some(RecordContent::Deducted(entry, lots.into_owned()))
        }
        After::Hold => Some(placed(&event.change)?),
    };
    let record = fact.map(|fact| Record {
        seq: version,
        at: event.at,
        fact,
    });
    Ok(DecodedEntry {
        event,
        record,
        moved,
    })
}

type EntryAndMoves = (Option<(Timestamp, Entry)>, Option<Box<ListChange>>);

/// The ledger entry that an event left, if it left one, and what it moved in lists.
pub(super) fn read_ledger_entry(bytes: &[u8], has_moved: bool) -> Result<EntryAndMoves, Error> {
    let (event, after, moved) = read_parts(bytes, has_moved)?;
    let entry = match after {
        After::Balance(balance) | After::Lots(balance, _) => entry(event.change, balance),
        After::Fact(fact) => fact.entry().cloned(),
        After::Nothing | After::Hold => None,
    };
    Ok((entry.map(|entry| (event.at, entry)), moved))
}

fn entry(change: Change, balance_after: i64) -> Option<Entry> {
    let (mut of_rate, mut counts) = (None, None);
    let (product, delta, reason, expires_at, key, meta) = match change {
        Change::Deducted {
            product,
            amount,
            key,
            meta,
            rate,
            counted,
        } => {
            (of_rate, counts) = (rate, counted);
            let delta = amount.saturating_neg();
            (product, delta, Reason::Deduction, None, Some(key), meta)
        }
        Change::Granted {
            product,
            amount,
            expires_at,
            key,
            meta,
        } => {
            let delta = amount.get();
            (product, delta, Reason::Manual, expires_at, Some(key), meta)
        }
        Change::FreeGranted {
            product,
            credits,
            end,
            ..
        } => {
            let end = (end != Timestamp::NEVER).then_some(end);
            (product, credits.get(), Reason::FreeGrant, end, None, None)
        }
        _ => return None,
    };
    Some(Entry {
        product,
        delta,
        balance_after,
        reason,
        order: None,
        key,
        meta,
        expires_at,
        rate: of_rate,
        counted: counts.map(Counted::kept),
    })
}

fn placed(change: &Change) -> Result<RecordContent, Error> {
    let Change::HoldPlaced {
        hold,
        product,
        amount,
        expires_at,
        key,
        publishable,
        rotations,
        max_overrun,
        rate,
        counted,
        ..
    } = change
    else {
        return Err(unfit());
    };
    let facts = HoldSnapshot {
        id: *hold,
        product: *product,
        amount: *amount,
        status: HoldStatus::Open,
        settled: 0,
        expires_at: *expires_at,
        drawn: 0,
        max_overrun: *max_overrun,
        publishable: *publishable,
        rotations: *rotations,
        owed: 0,
        uncovered: 0,
        rate: rate.as_deref().map(HoldRate::pinned_by),
        counted: counted.clone().map(Counted::kept),
    };
    Ok(RecordContent::HoldPlaced(facts, key.clone(), rate.clone()))
}

fn unfit() -> Error {
    Error::Damaged("an entry's record does not fit its event".into())
}
