//! What a wallet remembers for ever: numbered records, most of them ledger entries. A record is
//! immutable; its number is the wallet's version after its event.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use crate::{
    amount::Amount,
    id::{HoldId, OrderSerial, ProductId, WalletKey},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{
        account::LastLot,
        event::Change,
        instruction::{Instruction, InstructionRecord},
        order::ArchivedOrder,
        subscription::SubscriptionOver,
        taken::TakenLot,
    },
};

pub use crate::ledger::{Entry, Reason};

/// The status of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldStatus {
    /// Credits are set aside.
    Open,
    /// The cost of the work was deducted, the rest given back.
    Settled,
    /// The caller released it: all credits were given back.
    Released,
    /// Its time ran out: all credits were given back.
    Expired,
}

/// The state of a hold at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldSnapshot {
    /// The hold's identifier.
    pub id: HoldId,
    /// The product whose credits are held.
    pub product: ProductId,
    /// Credits set aside when it was placed.
    pub amount: Amount,
    /// The status at that moment.
    pub status: HoldStatus,
    /// Credits deducted when it was settled, those that are owed included; else 0.
    pub settled: i64,
    /// When an open hold expires and gives its credits back.
    pub expires_at: Timestamp,
    /// Credits drawn from it while it was open.
    pub drawn: i64,
    /// By how much the cost may exceed the held credits.
    pub max_overrun: i64,
    /// Whether a publishable key placed it.
    pub publishable: bool,
    /// How often the wallet's code had been replaced when it was placed.
    pub rotations: u32,
    /// The part of the settlement that is owed.
    pub owed: i64,
    /// The part of the cost that could neither be charged nor owed.
    pub uncovered: i64,
}

impl HoldSnapshot {
    /// Credits that it still sets aside.
    #[must_use]
    pub fn left(&self) -> i64 {
        match self.status {
            HoldStatus::Open => self.amount.get().saturating_sub(self.drawn).max(0),
            HoldStatus::Settled | HoldStatus::Released | HoldStatus::Expired => 0,
        }
    }
}

/// A hold that was released or expired. It keeps what settling it late needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedHold {
    /// The hold as it ended.
    pub hold: HoldSnapshot,
    /// The key of the request that placed it.
    pub key: IdempotencyKey,
    /// The caller's note.
    pub meta: Option<Meta>,
    /// The lots that what was drawn came from.
    pub lots: Vec<TakenLot>,
}

impl EndedHold {
    /// Where credits go back to if less was used than drawn.
    #[must_use]
    pub fn last_lot(&self) -> Option<LastLot> {
        self.lots.last().map(LastLot::from)
    }
}

/// What took credits that reversals give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taker {
    /// A deduction, by the number of its record.
    Deduction(u64),
    /// All deductions of a hold, by its serial.
    Hold(u128),
}

/// The record of a deduction, as a reversal of it names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeductionRef {
    /// The number of the record.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
}

/// The cost of a deduction that the balance did not cover in full, and what became of the rest.
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
    /// A hold was placed under this key. No ledger entry: the balance did not change.
    HoldPlaced(HoldSnapshot, IdempotencyKey),
    /// A hold was settled; for more than nothing that also wrote a ledger entry. With the lots that its cost was taken
    /// from.
    HoldSettled(HoldSnapshot, Option<Entry>, Vec<TakenLot>),
    /// An order was settled, or changed after that. No ledger entry: its credits have their own.
    Order(Box<ArchivedOrder>),
    /// A subscription is over.
    SubscriptionOver(Box<SubscriptionOver>),
    /// An instruction to the provider was requested, done or refused. Of several with one key the last one counts.
    Instructed(Box<InstructionRecord>),
    /// A hold was released or expired.
    HoldEnded(Box<EndedHold>),
    /// A part of a hold was charged.
    HoldDrawn(HoldId, Entry),
    /// A deduction that the balance did not cover in full, with the lots that it took from. If nothing was charged, its
    /// entry is not shown in the ledger.
    Charged(Charge, Entry, Vec<TakenLot>),
    /// A debt was forgiven, with the amount that the caller asked for.
    Forgiven(Option<Amount>, Entry),
    /// A deduction that names the lots that it took from. One that does not ([`RecordContent::Entry`]) took from the
    /// last lot of the last one of its product that does: see [`crate::wallet::taken::NAMED_EVERY`].
    Deducted(Entry, Vec<TakenLot>),
    /// Credits of a deduction were given back, with the amount that the caller asked for.
    Reversed(DeductionRef, Option<Amount>, Entry),
    /// How much of a deduction, or of what a hold was charged, has been given back in all. No ledger entry.
    ReversedInAll(Taker, Amount),
}

/// One line of a wallet's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The wallet's version after the event that left it: rising, with gaps.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened to the wallet.
    pub fact: RecordContent,
}

/// What a record can be found by. A key is scoped by wallet and operation. Of several records that a look-up finds,
/// the one with the largest number counts: an order may be archived more than once, and an instruction is requested
/// before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKey<'a> {
    /// A grant's key.
    Grant(&'a str),
    /// A deduction's key.
    Deduct(&'a str),
    /// A hold's key.
    Hold(&'a str),
    /// The closing of a hold, by the hold's serial.
    HoldClosed(u128),
    /// A settled order, by its serial.
    Order(OrderSerial),
    /// The end of a subscription, by the provider's name for it.
    Subscription(&'a str),
    /// A refund's key.
    Refund(&'a str),
    /// A cancellation's key.
    Cancel(&'a str),
    /// A resumption's key.
    Resume(&'a str),
    /// A draw's key.
    Draw(&'a str),
    /// The key by which a debt was forgiven.
    Forgive(&'a str),
    /// A reversal's key.
    Reverse(&'a str),
    /// How much was given back of a deduction, or of what a hold was charged.
    ReversedInAll(Taker),
}

impl<'a> RecordKey<'a> {
    /// The look-up that will find the record of a change, known before the change is applied.
    #[must_use]
    pub fn of(change: &'a Change) -> Option<Self> {
        match change {
            Change::Granted { key, .. } => Some(RecordKey::Grant(key.as_str())),
            Change::Deducted { key, .. } => Some(RecordKey::Deduct(key.as_str())),
            Change::HoldPlaced { key, .. } => Some(RecordKey::Hold(key.as_str())),
            Change::HoldSettled { hold, .. }
            | Change::HoldReleased { hold }
            | Change::HoldExpired { hold } => Some(RecordKey::HoldClosed(hold.serial)),
            Change::OrderArchived { order } => Some(RecordKey::Order(*order)),
            Change::SubscriptionGone { subscription } => {
                Some(RecordKey::Subscription(subscription.as_str()))
            }
            Change::Instructed(instructed) => Some(instructed.lookup()),
            Change::HoldDrawn { key, .. } => Some(RecordKey::Draw(key.as_str())),
            Change::Charged(charged) => Some(RecordKey::Deduct(charged.key.as_str())),
            Change::Forgiven { key, .. } => Some(RecordKey::Forgive(key.as_str())),
            Change::DeductionReversed(reversed) => Some(RecordKey::Reverse(reversed.key.as_str())),
            Change::ReversedInAll { of, .. } => Some(RecordKey::ReversedInAll(*of)),
            _ => None,
        }
    }

    /// A 64-bit hash, keyed by the wallet. It is written to disk: it must never change.
    #[must_use]
    pub fn hash(&self, wallet: &WalletKey) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&wallet.0);
        match self {
            Self::Grant(key) => write_text(&mut hasher, 1, key),
            Self::Deduct(key) => write_text(&mut hasher, 2, key),
            Self::Hold(key) => write_text(&mut hasher, 3, key),
            Self::HoldClosed(serial) => {
                hasher.write(&[4]);
                hasher.write(&serial.to_be_bytes());
            }
            Self::Order(OrderSerial(serial)) => {
                hasher.write(&[5]);
                hasher.write(&serial.to_be_bytes());
            }
            Self::Subscription(id) => write_text(&mut hasher, 6, id),
            Self::Refund(key) => write_text(&mut hasher, 7, key),
            Self::Cancel(key) => write_text(&mut hasher, 8, key),
            Self::Resume(key) => write_text(&mut hasher, 9, key),
            Self::Draw(key) => write_text(&mut hasher, 10, key),
            Self::Forgive(key) => write_text(&mut hasher, 11, key),
            Self::Reverse(key) => write_text(&mut hasher, 12, key),
            Self::ReversedInAll(Taker::Deduction(seq)) => {
                hasher.write(&[13]);
                hasher.write(&seq.to_be_bytes());
            }
            Self::ReversedInAll(Taker::Hold(serial)) => {
                hasher.write(&[14]);
                hasher.write(&serial.to_be_bytes());
            }
        }
        hasher.finish()
    }
}

fn write_text(hasher: &mut SipHasher13, tag: u8, text: &str) {
    hasher.write(&[tag]);
    hasher.write(text.as_bytes());
}

impl RecordContent {
    /// The ledger entry, if a balance changed.
    #[must_use]
    pub const fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Entry(entry)
            | Self::HoldSettled(_, Some(entry), _)
            | Self::HoldDrawn(_, entry)
            | Self::Deducted(entry, _)
            | Self::Reversed(_, _, entry)
            | Self::Forgiven(_, entry) => Some(entry),
            Self::Charged(_, entry, _) if entry.delta != 0 => Some(entry),
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

    /// Whether somebody gave credits. What a hold gives back was not taken for good, and what is forgiven cannot be
    /// spent.
    #[must_use]
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

impl InstructionRecord {
    /// The look-up that finds its record.
    #[must_use]
    pub fn lookup(&self) -> RecordKey<'_> {
        let key = self.key.as_str();
        match self.instruction {
            Instruction::Refund { .. } => RecordKey::Refund(key),
            Instruction::Cancel { .. } => RecordKey::Cancel(key),
            Instruction::Resume { .. } => RecordKey::Resume(key),
        }
    }
}

impl Record {
    /// The settled order, if the record is one.
    #[must_use]
    pub fn order(&self) -> Option<&ArchivedOrder> {
        match &self.fact {
            RecordContent::Order(archived) => Some(archived),
            _ => None,
        }
    }

    /// The instruction, if the record is one.
    #[must_use]
    pub fn instructed(&self) -> Option<&InstructionRecord> {
        match &self.fact {
            RecordContent::Instructed(instructed) => Some(instructed),
            _ => None,
        }
    }

    /// The subscription that ended, if the record is about one.
    #[must_use]
    pub fn subscription_over(&self) -> Option<&SubscriptionOver> {
        match &self.fact {
            RecordContent::SubscriptionOver(over) => Some(over),
            _ => None,
        }
    }

    /// The ledger entry, if the record changed a balance.
    #[must_use]
    pub const fn entry(&self) -> Option<&Entry> {
        self.fact.entry()
    }

    /// The hold that was released or expired, if the record is about one.
    #[must_use]
    pub fn ended_hold(&self) -> Option<&EndedHold> {
        match &self.fact {
            RecordContent::HoldEnded(ended) => Some(ended),
            _ => None,
        }
    }

    /// The look-up that finds this record; `None` for entries that follow from orders and the clock.
    #[must_use]
    pub fn lookup(&self) -> Option<RecordKey<'_>> {
        match &self.fact {
            RecordContent::Entry(entry) => {
                let key = entry.key.as_ref()?.as_str();
                match entry.reason {
                    Reason::Manual => Some(RecordKey::Grant(key)),
                    Reason::Deduction => Some(RecordKey::Deduct(key)),
                    Reason::Purchase
                    | Reason::FreeGrant
                    | Reason::Refund
                    | Reason::Expiry
                    | Reason::Reversal
                    | Reason::Forgiveness => None,
                }
            }
            RecordContent::HoldPlaced(_, key) => Some(RecordKey::Hold(key.as_str())),
            RecordContent::HoldSettled(hold, ..) => Some(RecordKey::HoldClosed(hold.id.serial)),
            RecordContent::HoldEnded(ended) => Some(RecordKey::HoldClosed(ended.hold.id.serial)),
            RecordContent::HoldDrawn(_, entry) => {
                Some(RecordKey::Draw(entry.key.as_ref()?.as_str()))
            }
            RecordContent::Charged(_, entry, _) | RecordContent::Deducted(entry, _) => {
                Some(RecordKey::Deduct(entry.key.as_ref()?.as_str()))
            }
            RecordContent::Reversed(_, _, entry) => {
                Some(RecordKey::Reverse(entry.key.as_ref()?.as_str()))
            }
            RecordContent::ReversedInAll(of, _) => Some(RecordKey::ReversedInAll(*of)),
            RecordContent::Forgiven(_, entry) => {
                Some(RecordKey::Forgive(entry.key.as_ref()?.as_str()))
            }
            RecordContent::Order(archived) => Some(RecordKey::Order(archived.serial)),
            RecordContent::SubscriptionOver(over) => {
                Some(RecordKey::Subscription(over.id.as_str()))
            }
            RecordContent::Instructed(instructed) => Some(instructed.lookup()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_on_disk_never_change() {
        let wallet = WalletKey([7; 16]);
        let hashes = [
            RecordKey::Grant("k").hash(&wallet),
            RecordKey::Deduct("k").hash(&wallet),
            RecordKey::Hold("k").hash(&wallet),
            RecordKey::HoldClosed(1).hash(&wallet),
            RecordKey::Order(OrderSerial(1)).hash(&wallet),
            RecordKey::Subscription("k").hash(&wallet),
            RecordKey::Refund("k").hash(&wallet),
            RecordKey::Cancel("k").hash(&wallet),
            RecordKey::Resume("k").hash(&wallet),
            RecordKey::Draw("k").hash(&wallet),
            RecordKey::Forgive("k").hash(&wallet),
            RecordKey::Reverse("k").hash(&wallet),
            RecordKey::ReversedInAll(Taker::Deduction(1)).hash(&wallet),
            RecordKey::ReversedInAll(Taker::Hold(1)).hash(&wallet),
        ];
        assert_eq!(hashes, HASHES);
        assert_ne!(RecordKey::Grant("k").hash(&WalletKey([8; 16])), hashes[0]);
    }

    const HASHES: [u64; 14] = [
        13_166_221_790_992_535_160,
        5_297_537_699_495_482_413,
        9_355_182_800_606_203_476,
        3_061_543_347_083_628_595,
        7_186_787_623_010_498_624,
        2_146_497_166_647_068_050,
        9_122_302_476_620_225_902,
        14_007_747_767_238_759_330,
        9_809_476_814_364_609_527,
        11_480_283_521_652_244_244,
        4_527_184_142_119_651_897,
        684_132_929_136_408_169,
        3_680_291_451_384_272_488,
        18_119_329_918_625_189_490,
    ];
}
