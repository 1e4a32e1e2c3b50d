//! A hold as records and responses show it.

use serde::{Deserialize, Serialize};

use crate::{
    amount::Amount,
    id::{HoldId, ProductId},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{account::LastLot, taken::TakenLot},
};

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
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct HoldSnapshot {
    pub id: HoldId,
    pub product: ProductId,
    /// Credits set aside when it was placed.
    pub amount: Amount,
    pub status: HoldStatus,
    /// Credits deducted when it was settled, including owed ones; else 0.
    pub settled: i64,
    /// When an open hold expires and gives its credits back.
    pub expires_at: Timestamp,
    /// Credits drawn from it while it was open.
    pub drawn: i64,
    /// By how much the cost may exceed the held credits.
    pub max_overrun: i64,
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
    pub fn left(&self) -> i64 {
        match self.status {
            HoldStatus::Open => self.amount.get().saturating_sub(self.drawn).max(0),
            HoldStatus::Settled | HoldStatus::Released | HoldStatus::Expired => 0,
        }
    }
}

/// A hold that was released or expired, with what a late settlement needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedHold {
    /// The hold as it ended.
    pub hold: HoldSnapshot,
    /// The key of the request that placed it.
    pub key: IdempotencyKey,
    /// The caller's note.
    pub meta: Option<Meta>,
    /// The lots of the drawn credits.
    pub lots: Vec<TakenLot>,
}

impl EndedHold {
    /// The lot that credits return to if less was used than drawn.
    pub fn last_lot(&self) -> Option<LastLot> {
        self.lots.last().map(LastLot::from)
    }
}
