//! What a wallet remembers for ever: numbered records, most of them ledger entries. A record is immutable; its number
//! is the wallet's version after its event.

mod hold;
mod key;

use serde::{Deserialize, Serialize};

use crate::{
    amount::Amount,
    id::HoldId,
    rate_card::RatedUse,
    text::IdempotencyKey,
    time::Timestamp,
    wallet::state::{
        instruction::InstructionRecord, order::ArchivedOrder, subscription::SubscriptionOver,
        taken::TakenLot,
    },
};

pub use self::{
    hold::{EndedHold, HoldRate, HoldSnapshot, HoldStatus},
    key::RecordKey,
};
pub use crate::ledger::{Entry, Reason};

/// What took credits, to be reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taker {
    /// A deduction, by the number of its record.
    Deduction(u64),
    /// All deductions of a hold, by its serial.
    Hold(u128),
}

/// The record of a deduction that a reversal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeductionRef {
    /// The number of the record.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
}

/// The cost of a deduction that the balance did not cover in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// The cost; negative if credits were given back.
    pub amount: i64,
    /// The part of the cost that is owed.
    pub owed: i64,
    /// The part of the cost that could neither be charged nor owed.
    pub uncovered: i64,
}

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordContent {
    /// A ledger entry.
    Entry(Entry),
    /// A hold was placed under this key. It writes no ledger entry: only what can be spent is less.
    HoldPlaced(HoldSnapshot, IdempotencyKey, Option<Box<RatedUse>>),
    /// A hold was settled, with the lots that it took from. A cost above 0, or by a rate card, also wrote a ledger entry.
    HoldSettled(HoldSnapshot, Option<Entry>, Vec<TakenLot>),
    /// An order was completed, or changed after that. Its credits have their own ledger entry.
    Order(Box<ArchivedOrder>),
    /// A subscription is over.
    SubscriptionOver(Box<SubscriptionOver>),
    /// An instruction to the provider was requested, done or refused. The last record of a key counts.
    Instructed(Box<InstructionRecord>),
    /// A hold was released or expired.
    HoldEnded(Box<EndedHold>),
    /// A part of a hold was charged.
    HoldDrawn(HoldId, Entry),
    /// A deduction that the balance did not cover in full, with its lots. If nothing was charged, the ledger does not
    /// show its entry.
    Charged(Charge, Entry, Vec<TakenLot>),
    /// A debt was forgiven, with the requested amount.
    Forgiven(Option<Amount>, Entry),
    /// A deduction that names its lots. One that does not ([`RecordContent::Entry`]) took from the last lot that an
    /// earlier `Deducted` of its product names; see [`crate::wallet::taken::NAMING_INTERVAL`].
    Deducted(Entry, Vec<TakenLot>),
    /// Credits of a deduction were given back, with the requested amount.
    Reversed(DeductionRef, Option<Amount>, Entry),
    /// The total given back of a deduction or of a hold's charge.
    ReversedInAll(Taker, Amount),
}

/// One line of a wallet's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The wallet's version after its event: rising, with gaps.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened to the wallet.
    pub fact: RecordContent,
}

impl RecordContent {
    /// The ledger entry, if a balance changed.
    pub const fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Entry(entry)
            | Self::HoldSettled(_, Some(entry), _)
            | Self::HoldDrawn(_, entry)
            | Self::Deducted(entry, _)
            | Self::Reversed(_, _, entry)
            | Self::Forgiven(_, entry) => Some(entry),
            Self::Charged(_, entry, _) if entry.delta != 0 || entry.rate.is_some() => Some(entry),
            Self::Charged(..)
            | Self::HoldPlaced(..)
            | Self::HoldSettled(_, None, _)
            | Self::ReversedInAll(..)
            | Self::HoldEnded(_)
            | Self::Order(_)
            | Self::SubscriptionOver(_)
            | Self::Instructed(_) => None,
        }
    }

    /// Whether it adds credits. What a hold gives back was not taken for good, and forgiven credits cannot be spent.
    pub fn brings_credits(&self) -> bool {
        let by_hand = matches!(self, Self::Reversed(..));
        self.entry().is_some_and(|entry| {
            let comes = match entry.reason {
                Reason::Reversal => by_hand,
                Reason::Forgiveness => false,
                _ => true,
            };
            entry.delta > 0 && comes
        })
    }
}

impl Record {
    /// The completed order, if the record is one.
    pub fn order(&self) -> Option<&ArchivedOrder> {
        match &self.fact {
            RecordContent::Order(archived) => Some(archived),
            _ => None,
        }
    }

    /// The instruction, if the record is one.
    pub fn instructed(&self) -> Option<&InstructionRecord> {
        match &self.fact {
            RecordContent::Instructed(instructed) => Some(instructed),
            _ => None,
        }
    }

    /// The subscription that ended, if the record is about one.
    pub fn subscription_over(&self) -> Option<&SubscriptionOver> {
        match &self.fact {
            RecordContent::SubscriptionOver(over) => Some(over),
            _ => None,
        }
    }

    /// The ledger entry, if the record changed a balance.
    pub const fn entry(&self) -> Option<&Entry> {
        self.fact.entry()
    }

    /// The hold that was released or expired, if the record is about one.
    pub fn ended_hold(&self) -> Option<&EndedHold> {
        match &self.fact {
            RecordContent::HoldEnded(ended) => Some(ended),
            _ => None,
        }
    }
}
