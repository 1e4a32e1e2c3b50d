//! What records say.

use domain::{
    Timestamp, history,
    id::{OrderSerial, ProductId},
    text::{IdempotencyKey, Meta},
};
use serde::{Deserialize, Serialize};

use super::{
    instruction::{Instructed, SubscriptionOver},
    kind::{HoldStatus, Reason},
    order::Archived,
    read::{self, amount, hold_id, instant, millis, serial, some_text, text},
};
use crate::contract::Error;

/// A ledger entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry<'a> {
    product: u128,
    delta: i64,
    balance_after: i64,
    reason: Reason,
    order: Option<u128>,
    key: Option<&'a str>,
    meta: Option<&'a str>,
    expires_at: Option<i64>,
}

impl<'a> From<&'a history::Entry> for Entry<'a> {
    fn from(from: &'a history::Entry) -> Self {
        let history::Entry {
            product: ProductId(product),
            delta,
            balance_after,
            reason,
            order,
            key,
            meta,
            expires_at,
        } = from;
        Self {
            product: *product,
            delta: *delta,
            balance_after: *balance_after,
            reason: (*reason).into(),
            order: order.map(|OrderSerial(order)| order),
            key: key.as_ref().map(IdempotencyKey::as_str),
            meta: meta.as_ref().map(Meta::as_str),
            expires_at: millis(*expires_at),
        }
    }
}

impl TryFrom<Entry<'_>> for history::Entry {
    type Error = Error;

    fn try_from(from: Entry<'_>) -> Result<Self, Error> {
        Ok(Self {
            product: ProductId(from.product),
            delta: from.delta,
            balance_after: from.balance_after,
            reason: from.reason.into(),
            order: serial(from.order),
            key: some_text(from.key, IdempotencyKey::new)?,
            meta: some_text(from.meta, Meta::new)?,
            expires_at: instant(from.expires_at),
        })
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct HoldFacts {
    id: read::Hold,
    product: u128,
    amount: i64,
    status: HoldStatus,
    settled: i64,
    expires_at: i64,
}

impl From<&history::HoldFacts> for HoldFacts {
    fn from(from: &history::HoldFacts) -> Self {
        let history::HoldFacts {
            id,
            product: ProductId(product),
            amount,
            status,
            settled,
            expires_at,
        } = *from;
        Self {
            id: read::hold(id),
            product,
            amount: amount.get(),
            status: status.into(),
            settled,
            expires_at: expires_at.0,
        }
    }
}

impl TryFrom<HoldFacts> for history::HoldFacts {
    type Error = Error;

    fn try_from(from: HoldFacts) -> Result<Self, Error> {
        Ok(Self {
            id: hold_id(from.id),
            product: ProductId(from.product),
            amount: amount(from.amount)?,
            status: from.status.into(),
            settled: from.settled,
            expires_at: Timestamp(from.expires_at),
        })
    }
}

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Fact<'a> {
    #[serde(borrow)]
    Entry(Entry<'a>),
    HoldPlaced(HoldFacts, &'a str),
    HoldClosed(HoldFacts, Option<Entry<'a>>),
    Order(Box<Archived<'a>>),
    SubscriptionOver(Box<SubscriptionOver<'a>>),
    Instructed(Box<Instructed<'a>>),
}

impl<'a> Fact<'a> {
    /// A ledger entry's product, reason, delta and note.
    pub(super) fn counted(self) -> Option<(u128, history::Reason, i64, Option<&'a str>)> {
        match self {
            Self::Entry(entry) | Self::HoldClosed(_, Some(entry)) => {
                Some((entry.product, entry.reason.into(), entry.delta, entry.meta))
            }
            Self::HoldPlaced(..)
            | Self::HoldClosed(_, None)
            | Self::Order(_)
            | Self::Instructed(_)
            | Self::SubscriptionOver(..) => None,
        }
    }
}

impl<'a> From<&'a history::Fact> for Fact<'a> {
    fn from(from: &'a history::Fact) -> Self {
        match from {
            history::Fact::Entry(entry) => Self::Entry(entry.into()),
            history::Fact::HoldPlaced(hold, key) => Self::HoldPlaced(hold.into(), key.as_str()),
            history::Fact::HoldClosed(hold, entry) => {
                Self::HoldClosed(hold.into(), entry.as_ref().map(Entry::from))
            }
            history::Fact::Order(archived) => Self::Order(Box::new((&**archived).into())),
            history::Fact::SubscriptionOver(over) => {
                Self::SubscriptionOver(Box::new((&**over).into()))
            }
            history::Fact::Instructed(instructed) => {
                Self::Instructed(Box::new((&**instructed).into()))
            }
        }
    }
}

impl TryFrom<Fact<'_>> for history::Fact {
    type Error = Error;

    fn try_from(from: Fact<'_>) -> Result<Self, Error> {
        Ok(match from {
            Fact::Entry(entry) => Self::Entry(entry.try_into()?),
            Fact::HoldPlaced(hold, key) => {
                Self::HoldPlaced(hold.try_into()?, text(key, IdempotencyKey::new)?)
            }
            Fact::HoldClosed(hold, entry) => Self::HoldClosed(
                hold.try_into()?,
                entry.map(history::Entry::try_from).transpose()?,
            ),
            Fact::Order(archived) => Self::Order(Box::new((*archived).try_into()?)),
            Fact::SubscriptionOver(over) => Self::SubscriptionOver(Box::new((*over).try_into()?)),
            Fact::Instructed(instructed) => Self::Instructed(Box::new((*instructed).try_into()?)),
        })
    }
}

/// A record by itself.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Record<'a> {
    seq: u64,
    at: i64,
    fact: Fact<'a>,
}

impl<'a> From<&'a history::Record> for Record<'a> {
    fn from(from: &'a history::Record) -> Self {
        let history::Record { seq, at, fact } = from;
        Self {
            seq: *seq,
            at: at.0,
            fact: fact.into(),
        }
    }
}
