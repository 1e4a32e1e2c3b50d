//! A line of a wallet's ledger.

use serde::{Deserialize, Serialize};

use crate::{
    id::{OrderSerial, ProductId},
    limit::Counted,
    rate_card::RatedUse,
    text::{IdempotencyKey, Member, Meta},
    time::Timestamp,
};

/// Why a balance changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A paid order.
    Purchase,
    /// A deduction or a settled hold.
    Deduction,
    /// A product's free grant.
    FreeGrant,
    /// A grant made with a secret key.
    Manual,
    /// Credits taken for a refund or dispute, or given back when that failed or was won.
    Refund,
    /// What was left of a lot when it expired.
    Expiry,
    /// Credits given back because the work cost less than was drawn for it.
    Reversal,
    /// A debt that was forgiven.
    Forgiveness,
}

/// One change of one product's balance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Entry {
    pub product: ProductId,
    /// Credits added (positive) or removed (negative).
    pub delta: i64,
    /// The sum of this product's deltas up to and with this one: spendable and held credits, less those owed (a
    /// wallet's `balance` leaves out the held ones).
    pub balance_after: i64,
    pub reason: Reason,
    pub order: Option<OrderSerial>,
    pub key: Option<IdempotencyKey>,
    pub meta: Option<Meta>,
    pub expires_at: Option<Timestamp>,
    /// What was used, of a charge by a rate card.
    pub rate: Option<Box<RatedUse>>,
    /// Who used it, and where limits counted it.
    pub counted: Option<Box<Counted>>,
}

impl Entry {
    /// The member who used it.
    pub fn member(&self) -> Option<&Member> {
        self.counted.as_ref()?.member.as_ref()
    }
}
