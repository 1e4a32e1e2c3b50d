//! One product's credits in a wallet: lots in the order in which they are burnt.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::apply::Corrupt;
use crate::{
    amount::MAX_CREDITS,
    history::Reason,
    id::{OrderSerial, ProductId},
    time::{Period, Timestamp},
};

/// Credits that came together and expire together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lot {
    /// Unique in its account; a higher number is younger.
    pub number: u64,
    /// Where the credits came from: `Purchase`, `Manual` or `FreeGrant`.
    pub source: Reason,
    /// Credits not yet spent, the held ones included.
    pub left: i64,
    /// Credits that open holds pin.
    pub held: i64,
    /// When the rest expires; [`Timestamp::NEVER`] if it does not.
    pub expires_at: Timestamp,
    /// The order that bought them.
    pub order: Option<OrderSerial>,
}

impl Lot {
    /// Credits that are neither spent nor held.
    #[must_use]
    pub const fn free(&self) -> i64 {
        self.left.saturating_sub(self.held)
    }
}

/// The last period in which a free grant was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeMark {
    /// Which kind of period.
    pub period: Period,
    /// Its first instant.
    pub start: Timestamp,
    /// Its end.
    pub end: Timestamp,
}

/// Credits that will expire next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextExpiry {
    /// How many.
    pub amount: i64,
    /// When.
    pub at: Timestamp,
}

/// A product's balance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Whose credits.
    pub product: ProductId,
    /// The sum of all deltas: spendable and held.
    pub balance: i64,
    /// Credits that open holds pin.
    pub held: i64,
    /// The last free grant.
    pub free: Option<FreeMark>,
    /// Soonest to expire first, then oldest first; no empty lots. The usual one lies in place.
    lots: SmallVec<[Lot; 1]>,
    next_lot: u64,
}

impl Account {
    pub(super) const fn new(product: ProductId) -> Self {
        Self {
            product,
            balance: 0,
            held: 0,
            free: None,
            lots: SmallVec::new_const(),
            next_lot: 0,
        }
    }

    /// Credits that can be spent now.
    #[must_use]
    pub const fn available(&self) -> i64 {
        self.balance.saturating_sub(self.held)
    }

    /// Credits that still fit.
    #[must_use]
    pub const fn room(&self) -> i64 {
        MAX_CREDITS.saturating_sub(self.balance)
    }

    /// Lots in burn order.
    #[must_use]
    pub fn lots(&self) -> &[Lot] {
        &self.lots
    }

    /// The free credits with the soonest expiry, all lots of that instant together.
    #[must_use]
    pub fn next_expiry(&self) -> Option<NextExpiry> {
        let mut free = self.lots.iter().filter(|lot| lot.free() > 0);
        let first = free
            .next()
            .filter(|lot| lot.expires_at != Timestamp::NEVER)?;
        let same = free.take_while(|lot| lot.expires_at == first.expires_at);
        let amount = same.fold(first.free(), |sum, lot| sum.saturating_add(lot.free()));
        Some(NextExpiry {
            amount,
            at: first.expires_at,
        })
    }

    /// The first lot to lose free credits to the clock: its number, how many, when.
    pub(super) fn first_expiring(&self) -> Option<(u64, i64, Timestamp)> {
        let lot = self.lots.iter().find(|lot| lot.free() > 0)?;
        (lot.expires_at != Timestamp::NEVER).then(|| (lot.number, lot.free(), lot.expires_at))
    }

    /// Adds a lot in its place. Lots that nothing tells apart are kept as one, so that a wallet
    /// filled by many small grants stays small. The lot's number.
    pub(super) fn add(
        &mut self,
        source: Reason,
        credits: i64,
        expires_at: Timestamp,
        order: Option<OrderSerial>,
    ) -> Result<u64, Corrupt> {
        let balance = self
            .balance
            .checked_add(credits)
            .filter(|&sum| sum <= MAX_CREDITS);
        self.balance = balance.ok_or(Corrupt("a grant passes the largest balance"))?;
        let place = self
            .lots
            .partition_point(|lot| lot.expires_at <= expires_at);
        let before = place
            .checked_sub(1)
            .and_then(|index| self.lots.get_mut(index));
        match before {
            Some(lot)
                if lot.expires_at == expires_at
                    && lot.source == source
                    && lot.order.is_none()
                    && order.is_none() =>
            {
                // No overflow: a lot is never larger than the balance, which was just checked.
                lot.left = lot.left.saturating_add(credits);
                Ok(lot.number)
            }
            _ => {
                let number = self.next_lot;
                self.next_lot = self.next_lot.saturating_add(1);
                let lot = Lot {
                    number,
                    source,
                    left: credits,
                    held: 0,
                    expires_at,
                    order,
                };
                self.lots.insert(place, lot);
                Ok(number)
            }
        }
    }

    /// Gives credits back to the lot that they were taken from, or to a new one of the same order
    /// if it is gone. The lot's number.
    pub(super) fn give_back(
        &mut self,
        lot: Option<u64>,
        credits: i64,
        expires_at: Timestamp,
        order: OrderSerial,
    ) -> Result<u64, Corrupt> {
        let former = lot.and_then(|number| self.lots.iter_mut().find(|lot| lot.number == number));
        let Some(former) = former else {
            return self.add(Reason::Purchase, credits, expires_at, Some(order));
        };
        let balance = self.balance.checked_add(credits);
        let balance = balance.filter(|&sum| sum <= MAX_CREDITS);
        self.balance = balance.ok_or(Corrupt("what is given back passes the largest balance"))?;
        former.left = former.left.saturating_add(credits);
        Ok(former.number)
    }

    /// Credits of a lot that are neither spent nor held.
    pub(super) fn free_in(&self, number: u64) -> i64 {
        let lot = self.lots.iter().find(|lot| lot.number == number);
        lot.map_or(0, Lot::free)
    }

    /// Where a lot is in burn order.
    pub(super) fn place_of(&self, number: u64) -> Option<usize> {
        self.lots.iter().position(|lot| lot.number == number)
    }

    /// Moves the end of some orders' lots forward to `at`. Held credits go when they come back.
    pub(super) fn end_lots(&mut self, orders: &BTreeSet<OrderSerial>, at: Timestamp) {
        for lot in &mut self.lots {
            if lot.order.is_some_and(|order| orders.contains(&order)) {
                lot.expires_at = lot.expires_at.min(at);
            }
        }
        self.lots.sort_by_key(|lot| (lot.expires_at, lot.number));
    }

    /// Takes free credits in burn order.
    pub(super) fn burn(&mut self, credits: i64) -> Result<(), Corrupt> {
        if credits < 0 || credits > self.available() {
            return Err(Corrupt("a deduction passes the spendable balance"));
        }
        let mut rest = credits;
        for lot in &mut self.lots {
            if rest == 0 {
                break;
            }
            let taken = lot.free().min(rest);
            lot.left = lot.left.saturating_sub(taken);
            rest = rest.saturating_sub(taken);
        }
        self.balance = self.balance.saturating_sub(credits);
        self.drop_empty();
        if rest == 0 {
            Ok(())
        } else {
            Err(Corrupt("lots do not add up to the balance"))
        }
    }

    /// Pins free credits in burn order; the lots and how much of each.
    pub(super) fn pin(&mut self, credits: i64) -> Result<Vec<(u64, i64)>, Corrupt> {
        if credits > self.available() {
            return Err(Corrupt("a hold passes the spendable balance"));
        }
        let mut rest = credits;
        let mut pins = Vec::new();
        for lot in &mut self.lots {
            let pinned = lot.free().min(rest);
            if pinned > 0 {
                lot.held = lot.held.saturating_add(pinned);
                rest = rest.saturating_sub(pinned);
                pins.push((lot.number, pinned));
            }
        }
        self.held = self.held.saturating_add(credits);
        if rest == 0 {
            Ok(pins)
        } else {
            Err(Corrupt("lots do not add up to the balance"))
        }
    }

    /// Gives pinned credits back, after spending up to `spend` of them in burn order. Returns how
    /// many were spent.
    pub(super) fn unpin(&mut self, pins: &[(u64, i64)], spend: i64) -> Result<i64, Corrupt> {
        let mut rest = spend;
        for &(number, pinned) in pins {
            let lot = self.lots.iter_mut().find(|lot| lot.number == number);
            let lot = lot.ok_or(Corrupt("a hold pins a lot that is gone"))?;
            let taken = pinned.min(rest);
            lot.held = lot.held.saturating_sub(pinned);
            lot.left = lot.left.saturating_sub(taken);
            self.held = self.held.saturating_sub(pinned);
            self.balance = self.balance.saturating_sub(taken);
            rest = rest.saturating_sub(taken);
        }
        self.drop_empty();
        Ok(spend.saturating_sub(rest))
    }

    /// Takes free credits out of one lot; the order that bought them.
    pub(super) fn take_from(
        &mut self,
        number: u64,
        credits: i64,
    ) -> Result<Option<OrderSerial>, Corrupt> {
        let lot = self.lots.iter_mut().find(|lot| lot.number == number);
        let lot = lot.filter(|lot| lot.free() >= credits);
        let lot = lot.ok_or(Corrupt("more is taken than a lot has"))?;
        let order = lot.order;
        lot.left = lot.left.saturating_sub(credits);
        self.balance = self.balance.saturating_sub(credits);
        self.drop_empty();
        Ok(order)
    }

    fn drop_empty(&mut self) {
        if self.lots.iter().any(|lot| lot.left == 0) {
            self.lots.retain(|lot| lot.left > 0);
        }
    }
}
