//! The keys that records are found by.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use super::{Reason, Record, RecordContent, Taker};
use crate::{
    id::{OrderSerial, WalletKey},
    wallet::state::{
        event::Change,
        instruction::{Instruction, InstructionRecord},
    },
};

/// The key of a record, scoped by wallet and operation. Of several records with one key the one with the largest number
/// counts: an order may be archived more than once, and an instruction is requested before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKey<'a> {
    /// A grant's key.
    Grant(&'a str),
    /// A deduction's key.
    Deduct(&'a str),
    /// A hold's key.
    Hold(&'a str),
    /// The record that closed a hold, by the hold's serial.
    HoldClosed(u128),
    /// A completed order, by its serial.
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
    /// The total given back of a deduction or of a hold's charge.
    ReversedInAll(Taker),
}

impl<'a> RecordKey<'a> {
    /// The key of a change's record, known before the change is applied.
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

impl InstructionRecord {
    /// The key of its record.
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
    /// The key of this record; `None` for entries that follow from orders and the clock.
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
            RecordContent::HoldPlaced(_, key, _) => Some(RecordKey::Hold(key.as_str())),
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
