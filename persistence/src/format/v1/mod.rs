//! The first version of what is stored: plain numbers and texts, whatever the domain's types look
//! like. Written by `From` a borrowed domain type, read by `TryFrom` through the domain's checked
//! constructors, so that damaged bytes are an error and never credits out of bounds.
//!
//! Nothing here changes any more once a release wrote it. Fields follow each other in the order of
//! their structs and variants are numbered by the order of their enums: both are only ever added to,
//! and only in the folder of a new version.

mod change;
mod document;
mod endpoint;
mod fact;
mod instruction;
mod kind;
mod notice;
mod order;
mod owner;
mod price;
mod provider;
mod purchase;
mod read;
mod subscription;
mod wallet;

use domain::{
    catalog,
    history::{Entry, Fact, HoldFacts, HoldStatus, Reason, Record},
    id::{ProductId, ProjectId},
    notice::Notice,
    time::Timestamp,
    wallet::{Change, Event, Wallet},
};
use serde::{Deserialize, Serialize};

use super::entry::Said;
use crate::{
    codec::{decode_all, encode_into},
    contract::Error,
    usage::Counted,
};

pub(super) const VERSION: u8 = 1;

/// What a record says beyond its event.
#[derive(Serialize, Deserialize)]
enum After<'a> {
    /// There is no record.
    Nothing,
    /// A ledger entry that follows from the event and the balance after it.
    Balance(i64),
    /// A placed hold's, which follows from the event.
    Hold,
    /// Something that does not follow from the event.
    #[serde(borrow)]
    Fact(fact::Fact<'a>),
}

/// How a record follows from its event.
#[derive(Clone, Copy)]
pub(super) enum Follows {
    /// It is a ledger entry, but for the balance.
    Balance,
    /// It is a placed hold's.
    Hold,
    /// It does not.
    Not,
}

pub(super) fn write_event(bytes: &mut Vec<u8>, event: &Event) -> Result<Follows, Error> {
    encode_into(bytes, &(event.at.0, change::Change::from(&event.change)))?;
    Ok(match &event.change {
        Change::Deducted { .. } | Change::Granted { .. } | Change::FreeGranted { .. } => {
            Follows::Balance
        }
        Change::HoldPlaced { .. } => Follows::Hold,
        _ => Follows::Not,
    })
}

pub(super) fn write_after(
    bytes: &mut Vec<u8>,
    follows: Follows,
    record: Option<&Record>,
) -> Result<(), Error> {
    let after = match (record.map(|record| &record.fact), follows) {
        (None, _) => After::Nothing,
        (Some(Fact::Entry(entry)), Follows::Balance) => After::Balance(entry.balance_after),
        (Some(Fact::HoldPlaced(..)), Follows::Hold) => After::Hold,
        (Some(fact), _) => After::Fact(fact.into()),
    };
    encode_into(bytes, &after)
}

pub(super) fn read_body(bytes: &[u8], version: u64) -> Result<Said, Error> {
    let (at, change, after): (i64, change::Change<'_>, After<'_>) = decode_all(bytes)?;
    let at = Timestamp(at);
    let change = Change::try_from(change)?;
    let fact = match after {
        After::Nothing => None,
        After::Fact(fact) => Some(fact.try_into()?),
        After::Balance(balance) => Some(Fact::Entry(entry(&change, balance)?)),
        After::Hold => Some(placed(&change)?),
    };
    let record = fact.map(|fact| Record {
        seq: version,
        at,
        fact,
    });
    Ok(Said {
        event: Event { at, change },
        record,
    })
}

/// What of an entry counts as usage, read where it lies; `None`: it is no ledger entry.
pub(super) fn read_counted(bytes: &[u8]) -> Result<Option<Counted<'_>>, Error> {
    let (at, change, after): (i64, change::Change<'_>, After<'_>) = decode_all(bytes)?;
    let counted = match after {
        After::Balance(_) => change.counted(),
        After::Fact(fact) => fact.counted(),
        After::Nothing | After::Hold => None,
    };
    Ok(counted.map(|(product, reason, delta, meta)| Counted {
        at: Timestamp(at),
        product: ProductId(product),
        reason,
        delta,
        meta,
    }))
}

fn entry(change: &Change, balance_after: i64) -> Result<Entry, Error> {
    let (product, delta, reason, expires_at, key, meta) = match change {
        Change::Deducted {
            product,
            amount,
            key,
            meta,
        } => {
            let delta = amount.get().saturating_neg();
            (*product, delta, Reason::Deduction, None, Some(key), meta)
        }
        Change::Granted {
            product,
            amount,
            expires_at,
            key,
            meta,
        } => {
            let delta = amount.get();
            (
                *product,
                delta,
                Reason::Manual,
                *expires_at,
                Some(key),
                meta,
            )
        }
        Change::FreeGranted {
            product,
            credits,
            end,
            ..
        } => {
            let end = (*end != Timestamp::NEVER).then_some(*end);
            (*product, credits.get(), Reason::FreeGrant, end, None, &None)
        }
        _ => return Err(unfit()),
    };
    Ok(Entry {
        product,
        delta,
        balance_after,
        reason,
        order: None,
        key: key.cloned(),
        meta: meta.clone(),
        expires_at,
    })
}

fn placed(change: &Change) -> Result<Fact, Error> {
    let Change::HoldPlaced {
        hold,
        product,
        amount,
        expires_at,
        key,
        ..
    } = change
    else {
        return Err(unfit());
    };
    let facts = HoldFacts {
        id: *hold,
        product: *product,
        amount: *amount,
        status: HoldStatus::Open,
        settled: 0,
        expires_at: *expires_at,
    };
    Ok(Fact::HoldPlaced(facts, key.clone()))
}

fn unfit() -> Error {
    Error::Damaged("an entry's record does not fit its event".into())
}

/// Adds a wallet's snapshot.
pub(super) fn write_wallet(bytes: &mut Vec<u8>, wallet: &Wallet) -> Result<(), Error> {
    encode_into(bytes, &wallet::Wallet::from(&wallet.parts()))
}

pub(super) fn read_wallet(bytes: &[u8]) -> Result<Wallet, Error> {
    decode_all::<wallet::Wallet<'_>>(bytes)?.try_into()
}

/// Adds a catalog document.
pub(super) fn write_document(
    bytes: &mut Vec<u8>,
    document: &catalog::Document,
) -> Result<(), Error> {
    encode_into(bytes, &document::Document::from(document))
}

pub(super) fn read_document(bytes: &[u8]) -> Result<catalog::Document, Error> {
    decode_all::<document::Document<'_>>(bytes)?.try_into()
}

/// Adds a notice.
pub(super) fn write_notice(bytes: &mut Vec<u8>, notice: &Notice) -> Result<(), Error> {
    encode_into(bytes, &notice::Notice::from(notice))
}

pub(super) fn read_notice(project: ProjectId, bytes: &[u8]) -> Result<Notice, Error> {
    decode_all::<notice::Notice<'_>>(bytes)?.read(project)
}

/// Adds a record by itself.
pub(super) fn write_record(bytes: &mut Vec<u8>, record: &Record) -> Result<(), Error> {
    encode_into(bytes, &fact::Record::from(record))
}
