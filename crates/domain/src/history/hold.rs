//! A hold as records and responses show it.

use serde::{Deserialize, Serialize};

use crate::{
    id::{HoldId, OrderSerial, ProductId},
    limit::Counted,
    rate_card::{Cost, RateCardSlug, RatedUse},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::taken::TakenLot,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct HoldSnapshot {
    pub id: HoldId,
    pub product: ProductId,
    /// Credits set aside when it was placed, 0 or more.
    pub amount: i64,
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
    /// What rate cards have to do with it.
    pub rate: Option<Box<HoldRate>>,
    /// Who placed it, and where limits count it.
    pub counted: Option<Box<Counted>>,
}

/// What rate cards have to do with a hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HoldRate {
    /// The card and the version that it was placed by, which price what is charged for it by that card.
    pub pinned: Option<(RateCardSlug, u32)>,
    /// The exact cost of what was drawn by rate cards.
    pub drawn_cost: Cost,
    /// The credits that were charged for that.
    pub drawn_credits: i64,
}

impl HoldSnapshot {
    /// Credits that it still sets aside.
    pub fn left(&self) -> i64 {
        match self.status {
            HoldStatus::Open => self.amount.saturating_sub(self.drawn).max(0),
            HoldStatus::Settled | HoldStatus::Released | HoldStatus::Expired => 0,
        }
    }

    /// What the settlement of a hold cost.
    pub(crate) const fn cost(&self) -> i64 {
        self.settled.saturating_add(self.uncovered)
    }

    /// The exact cost of what was drawn, whole credits included.
    pub(crate) fn drawn_cost(&self) -> Cost {
        let Some(rate) = &self.rate else {
            return Cost::of_credits(self.drawn);
        };
        let whole = Cost::of_credits(self.drawn.saturating_sub(rate.drawn_credits));
        rate.drawn_cost.saturating_add(whole)
    }

    /// The version of this card that prices what is charged for the hold; `None`: the one in force.
    pub fn pinned_version(&self, card: &RateCardSlug) -> Option<u32> {
        let (pinned, version) = self.rate.as_ref()?.pinned.as_ref()?;
        (pinned == card).then_some(*version)
    }
}

impl HoldRate {
    /// Of a hold that a rate card placed.
    pub fn pinned_by(rate: &RatedUse) -> Box<Self> {
        Box::new(Self {
            pinned: Some((rate.card.clone(), rate.version)),
            ..Self::default()
        })
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
    /// The order that bought the lot that credits return to if less was used than drawn.
    pub fn last_order(&self) -> Option<OrderSerial> {
        self.lots.last()?.order
    }
}
