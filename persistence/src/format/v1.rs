//! The first version of what is stored: the domain's own types, field by field in their order and variants by the
//! order of their enums. They are read through the domain's checked constructors, so that damaged bytes are an error
//! and never credits out of bounds. Golden files fail where a change of the domain would change what is on the disk:
//! once a release wrote it, such a change needs a copy of the former types here, and a version of its own.

use std::borrow::Cow;

use domain::{
    catalog::Document,
    history::{Entry, Fact, HoldFacts, HoldStatus, Reason, Record},
    id::{ProjectId, WalletId, WalletKey},
    notice::{News, Notice},
    text::ExternalUserId,
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
    Fact(Cow<'a, Fact>),
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
    encode_into(bytes, event)?;
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
        (Some(fact), _) => After::Fact(Cow::Borrowed(fact)),
    };
    encode_into(bytes, &after)
}

pub(super) fn read_body(bytes: &[u8], version: u64) -> Result<Said, Error> {
    let (event, after): (Event, After<'_>) = decode_all(bytes)?;
    let fact = match after {
        After::Nothing => None,
        After::Fact(fact) => Some(fact.into_owned()),
        After::Balance(balance) => Some(Fact::Entry(entry(&event.change, balance)?)),
        After::Hold => Some(placed(&event.change)?),
    };
    let record = fact.map(|fact| Record {
        seq: version,
        at: event.at,
        fact,
    });
    Ok(Said { event, record })
}

/// What of an entry counts as usage; `None`: it is no ledger entry.
pub(super) fn read_counted(bytes: &[u8]) -> Result<Option<Counted>, Error> {
    let (event, after): (Event, After<'_>) = decode_all(bytes)?;
    let (product, reason, delta, meta) = match (after, event.change) {
        (
            After::Balance(_),
            Change::Deducted {
                product,
                amount,
                meta,
                ..
            },
        ) => (
            product,
            Reason::Deduction,
            amount.get().saturating_neg(),
            meta,
        ),
        (
            After::Balance(_),
            Change::Granted {
                product,
                amount,
                meta,
                ..
            },
        ) => (product, Reason::Manual, amount.get(), meta),
        (
            After::Balance(_),
            Change::FreeGranted {
                product, credits, ..
            },
        ) => (product, Reason::FreeGrant, credits.get(), None),
        (After::Fact(fact), _) => match fact.into_owned() {
            Fact::Entry(entry) | Fact::HoldClosed(_, Some(entry)) => {
                (entry.product, entry.reason, entry.delta, entry.meta)
            }
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(Counted {
        at: event.at,
        product,
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
    encode_into(bytes, wallet)
}

pub(super) fn read_wallet(bytes: &[u8]) -> Result<Wallet, Error> {
    decode_all(bytes)
}

/// Adds a catalog document.
pub(super) fn write_document(bytes: &mut Vec<u8>, document: &Document) -> Result<(), Error> {
    encode_into(bytes, document)
}

pub(super) fn read_document(bytes: &[u8]) -> Result<Document, Error> {
    decode_all(bytes)
}

/// A notice's fields but for its project, which stands beside it.
type NoticeFields = (
    Timestamp,
    Timestamp,
    WalletKey,
    WalletId,
    Option<ExternalUserId>,
    News,
);

/// Adds a notice.
pub(super) fn write_notice(bytes: &mut Vec<u8>, notice: &Notice) -> Result<(), Error> {
    let Notice {
        project: _,
        at,
        recorded,
        key,
        wallet,
        user,
        news,
    } = notice;
    encode_into(bytes, &(at, recorded, key, wallet, user, news))
}

pub(super) fn read_notice(project: ProjectId, bytes: &[u8]) -> Result<Notice, Error> {
    let (at, recorded, key, wallet, user, news) = decode_all::<NoticeFields>(bytes)?;
    Ok(Notice {
        project,
        at,
        recorded,
        key,
        wallet,
        user,
        news,
    })
}

/// Adds a record by itself.
pub(super) fn write_record(bytes: &mut Vec<u8>, record: &Record) -> Result<(), Error> {
    encode_into(bytes, record)
}
