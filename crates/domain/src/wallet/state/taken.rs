//! Which lots credits were taken from, so that they can be returned, even if these lots no longer exist.

use serde::{Deserialize, Serialize};

use super::{
    account::{Account, LotOrigin},
    corrupt::Corrupt,
    lots::{CycleTag, Lot, LotPrice},
};
use crate::{history::Reason, id::OrderSerial, time::Timestamp};

/// Credits taken from one lot, or returned to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenLot {
    /// The lot's number in its account.
    pub number: u64,
    /// Credits that were taken.
    pub credits: i64,
    /// Where the lot's credits had come from.
    pub source: Reason,
    /// When the lot was to expire.
    pub expires_at: Timestamp,
    /// The order that bought it.
    pub order: Option<OrderSerial>,
    /// The subscription whose cycle it ends with.
    pub cycle: Option<CycleTag>,
    /// What was paid for it.
    pub price: Option<LotPrice>,
}

/// The lot that an account's deductions take from, as last recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::wallet) struct LastTaken {
    pub(in crate::wallet) lot: u64,
    /// The record that names it.
    pub(in crate::wallet) record: u64,
}

/// The lot that the last of some credits came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLot {
    /// Its number in its account.
    pub number: u64,
    /// When it ends; the epoch if that is not known.
    pub ends_at: Timestamp,
}

impl LastLot {
    /// A lot whose end is not known, as long as it exists.
    pub(in crate::wallet) const fn of(number: u64) -> Self {
        Self {
            number,
            ends_at: Timestamp(0),
        }
    }

    /// No lot that ever existed.
    pub(in crate::wallet) const fn none() -> Self {
        Self::of(u64::MAX)
    }
}

/// A deduction's record names its lot only if that differs from the last deduction's, or if none of this many record
/// numbers before it does. So most records take no room for it, and one within this distance always names it. Smaller
/// in tests, so that short histories have both cases.
pub const NAMING_INTERVAL: u64 = if cfg!(test) { 4 } else { 256 };

impl TakenLot {
    pub(in crate::wallet) fn of(lot: &Lot, credits: i64) -> Self {
        Self {
            number: lot.number,
            credits,
            source: lot.source,
            expires_at: lot.expires_at,
            order: lot.order,
            cycle: lot.cycle,
            price: lot.price.as_deref().copied(),
        }
    }

    pub(in crate::wallet) const fn new(credits: i64, expires_at: Timestamp) -> Self {
        Self {
            number: u64::MAX,
            credits,
            source: Reason::Manual,
            expires_at,
            order: None,
            cycle: None,
            price: None,
        }
    }
}

/// The most lots that a record names: all lots of an old wallet would not fit into the log.
const MAX_NAMED: usize = 128;

/// Bounds the lots of a record. The last ones stay, because reversals give back from the end; the others are merged
/// into one of no particular lot that ends with the last of them.
pub(in crate::wallet) fn bound(lots: &mut Vec<TakenLot>) {
    if lots.len() <= MAX_NAMED {
        return;
    }
    let merged = lots.len().saturating_sub(MAX_NAMED);
    let merged = lots.drain(..=merged);
    let one = merged.fold(TakenLot::new(0, Timestamp::default()), |one, lot| {
        let credits = one.credits.saturating_add(lot.credits);
        TakenLot::new(credits, one.expires_at.max(lot.expires_at))
    });
    lots.insert(0, one);
}

pub(in crate::wallet) fn first(lots: &mut Vec<TakenLot>, credits: i64) {
    let mut rest = credits;
    for lot in lots.iter_mut() {
        lot.credits = lot.credits.min(rest);
        rest = rest.saturating_sub(lot.credits);
    }
    lots.retain(|lot| lot.credits > 0);
}

impl Account {
    /// Takes free credits in burn order for this record. Returns the lots that it has to name.
    pub(in crate::wallet) fn deduct(
        &mut self,
        credits: i64,
        record: u64,
    ) -> Result<Vec<TakenLot>, Corrupt> {
        let recent = |last: &LastTaken| record.saturating_sub(last.record) < NAMING_INTERVAL;
        let existing = self.last_taken.filter(recent).map(|last| last.lot);
        let mut named = Vec::new();
        self.burn(credits, |lot, taken| {
            if taken < credits || existing != Some(lot.number) {
                named.push(TakenLot::of(lot, taken));
            }
        })?;
        if let Some(last) = named.last() {
            let lot = last.number;
            self.last_taken = Some(LastTaken { lot, record });
        }
        bound(&mut named);
        Ok(named)
    }

    /// Returns credits to a lot or to a copy of it. A debt must have been paid.
    pub(in crate::wallet) fn reinstate(&mut self, taken: TakenLot) -> Result<(), Corrupt> {
        let TakenLot {
            number,
            credits,
            source,
            expires_at,
            order,
            cycle,
            price,
        } = taken;
        if self.lots.get(number).is_some() {
            return self.grow(number, credits);
        }
        match order {
            None => self.grant(source, credits, expires_at),
            Some(_) if number >= self.next_lot => Err(Corrupt("credits go back to no lot")),
            // Under its old number, so that a refund of its order finds it.
            Some(order) => self.put(
                number,
                source,
                credits,
                expires_at,
                Some(LotOrigin {
                    order,
                    cycle,
                    price,
                }),
            ),
        }
    }
}
