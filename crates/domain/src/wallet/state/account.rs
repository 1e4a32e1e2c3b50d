//! One product's credits in a wallet: lots in burn order. No operation visits lots that it does not change.

use super::{
    corrupt::Corrupt,
    debt::Debt,
    lots::{CycleTag, Lot, LotPrice, Lots},
    taken::{LastTaken, TakenLot},
};
use crate::{
    amount::MAX_CREDITS,
    history::Reason,
    id::{OrderSerial, ProductId},
    rate_card::{Carried, Cost, RatedUse},
    time::{Period, Timestamp},
};
use serde::{Deserialize, Serialize};

/// The last period in which a free grant was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFreeGrant {
    /// The kind of period.
    pub period: Period,
    /// Its first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

/// Credits that will expire next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextExpiry {
    /// Credits that will expire.
    pub amount: i64,
    /// When they will expire.
    pub at: Timestamp,
}

/// The order that brought a lot, the cycle that it ends with, and its price.
#[derive(Debug, Clone, Copy)]
pub(in crate::wallet) struct LotOrigin {
    pub(in crate::wallet) order: OrderSerial,
    pub(in crate::wallet) cycle: Option<CycleTag>,
    pub(in crate::wallet) price: Option<LotPrice>,
}

/// A product's balance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The product whose credits these are.
    pub product: ProductId,
    /// The credits of all lots: spendable and pinned.
    pub balance: i64,
    /// Credits that open holds pin, those that were drawn included.
    pub held: i64,
    /// The last free grant.
    pub free: Option<LastFreeGrant>,
    /// `None` if nothing is owed, reserved or drawn.
    pub(in crate::wallet) debt: Option<Box<Debt>>,
    pub(in crate::wallet) lots: Lots,
    pub(in crate::wallet) next_lot: u64,
    /// The lot of the last deduction, if its record or an earlier one names it.
    pub(in crate::wallet) last_taken: Option<LastTaken>,
    /// What was used by rate cards below a whole credit, and is not charged yet.
    pub carried: Carried,
}

impl Account {
    pub(in crate::wallet) const fn new(product: ProductId) -> Self {
        Self {
            product,
            balance: 0,
            held: 0,
            free: None,
            debt: None,
            lots: Lots::new(),
            next_lot: 0,
            last_taken: None,
            carried: Carried::ZERO,
        }
    }

    /// Carries on what the cost of a use leaves below a whole credit; `credits` is what was charged for it after what
    /// was used `before`. A charge without a rate leaves nothing.
    pub(in crate::wallet) fn carry(
        &mut self,
        rate: Option<&RatedUse>,
        before: Cost,
        credits: i64,
    ) -> Result<(), Corrupt> {
        let Some(rate) = rate else {
            return Ok(());
        };
        let (charged, left) = self.carried.charge(rate.cost, before);
        if charged != credits || left != rate.carried {
            return Err(Corrupt("a charge is not what its rate says"));
        }
        self.carried = left;
        Ok(())
    }

    /// Credits that can be spent now.
    pub const fn available(&self) -> i64 {
        self.balance.saturating_sub(self.held)
    }

    /// Credits that can be added up to [`MAX_CREDITS`]; those that pay a debt take no room.
    pub fn room(&self) -> i64 {
        let room = MAX_CREDITS.saturating_sub(self.balance);
        room.saturating_add(self.debt().owed)
    }

    /// Lots in burn order. Looks at each of them.
    pub fn lots(&self) -> Vec<&Lot> {
        self.lots.in_burn_order()
    }

    /// How many lots there are.
    pub fn lot_count(&self) -> usize {
        self.lots.len()
    }

    /// The free credits with the soonest expiry, all lots of that instant together.
    pub fn next_expiry(&self) -> Option<NextExpiry> {
        let (_, _, at) = self.first_expiring()?;
        let amount = self.lots.free_until(at);
        Some(NextExpiry { amount, at })
    }

    /// The first lot with expiring free credits: its number, how many, when.
    pub(in crate::wallet) fn first_expiring(&self) -> Option<(u64, i64, Timestamp)> {
        let lot = self.lots.first_free()?;
        (lot.expires_at != Timestamp::NEVER).then(|| (lot.number, lot.free(), lot.expires_at))
    }

    /// Whether credits of this source and end would join a lot that exists.
    pub(in crate::wallet) fn has_lot(&self, source: Reason, expires_at: Timestamp) -> bool {
        self.lots.same(source, expires_at).is_some()
    }

    /// Adds credits without an order, after they paid a debt. Those of one source and end are merged into one lot, so
    /// that a wallet with many small grants stays small.
    pub(in crate::wallet) fn grant(
        &mut self,
        source: Reason,
        credits: i64,
        expires_at: Timestamp,
    ) -> Result<(), Corrupt> {
        let credits = self.repay(credits)?;
        match self.lots.same(source, expires_at) {
            _ if credits == 0 => Ok(()),
            Some(number) => self.grow(number, credits),
            None => self.add(source, credits, expires_at, None).map(drop),
        }
    }

    pub(in crate::wallet) fn grow(&mut self, number: u64, credits: i64) -> Result<(), Corrupt> {
        self.gain(credits)?;
        // No overflow: a lot is never larger than the balance, which was just checked.
        let grow = |lot: &mut Lot| lot.left = lot.left.saturating_add(credits);
        self.lots.update(number, grow);
        Ok(())
    }

    /// Adds an order's credits as a lot of their own, after they paid a debt. Returns the lot's number.
    pub(in crate::wallet) fn add_bought(
        &mut self,
        credits: i64,
        expires_at: Timestamp,
        bought: LotOrigin,
    ) -> Result<u64, Corrupt> {
        let credits = self.repay(credits)?;
        self.add(Reason::Purchase, credits, expires_at, Some(bought))
    }

    /// Returns credits to their lot, which may end sooner by now, or to a new one with its number and order if it no
    /// longer exists. They pay a debt first. Returns the lot's number.
    pub(in crate::wallet) fn give_back(
        &mut self,
        lot: Option<u64>,
        credits: i64,
        expires_at: Timestamp,
        bought: LotOrigin,
    ) -> Result<u64, Corrupt> {
        let Some(number) = lot else {
            return self.add_bought(credits, expires_at, bought);
        };
        let credits = self.repay(credits)?;
        match self.lots.get(number) {
            Some(_) => {
                self.grow(number, credits)?;
                let end = |lot: &mut Lot| lot.expires_at = lot.expires_at.min(expires_at);
                self.lots.update(number, end);
            }
            None => self.put(number, Reason::Purchase, credits, expires_at, Some(bought))?,
        }
        Ok(number)
    }

    /// Returns credits to their lot, or to a new one with this expiry if it no longer exists. They pay a debt first.
    pub(in crate::wallet) fn restore(
        &mut self,
        lot: u64,
        credits: i64,
        expires_at: Timestamp,
    ) -> Result<(), Corrupt> {
        if self.lots.get(lot).is_none() {
            return self.grant(Reason::Manual, credits, expires_at);
        }
        let credits = self.repay(credits)?;
        self.grow(lot, credits)
    }

    pub(in crate::wallet) fn end_of(&self, lot: u64) -> Option<Timestamp> {
        self.lots.get(lot).map(|lot| lot.expires_at)
    }

    fn add(
        &mut self,
        source: Reason,
        credits: i64,
        expires_at: Timestamp,
        bought: Option<LotOrigin>,
    ) -> Result<u64, Corrupt> {
        let number = self.next_lot;
        self.put(number, source, credits, expires_at, bought)?;
        let next = self.next_lot.checked_add(1);
        self.next_lot = next.ok_or(Corrupt("the numbers of lots are used up"))?;
        Ok(number)
    }

    /// Adds a lot with this unused number.
    pub(in crate::wallet) fn put(
        &mut self,
        number: u64,
        source: Reason,
        credits: i64,
        expires_at: Timestamp,
        bought: Option<LotOrigin>,
    ) -> Result<(), Corrupt> {
        self.gain(credits)?;
        if credits > 0 {
            self.lots.insert(Lot {
                number,
                source,
                left: credits,
                held: 0,
                expires_at,
                order: bought.map(|bought| bought.order),
                cycle: bought.and_then(|bought| bought.cycle),
                price: bought.and_then(|bought| bought.price).map(Box::new),
            });
        }
        Ok(())
    }

    fn gain(&mut self, credits: i64) -> Result<(), Corrupt> {
        let balance = self.balance.checked_add(credits);
        let balance = balance.filter(|&sum| credits >= 0 && sum <= MAX_CREDITS);
        self.balance = balance.ok_or(Corrupt("a grant exceeds the largest balance"))?;
        Ok(())
    }

    pub(in crate::wallet) fn free_in(&self, number: u64) -> i64 {
        self.lots.get(number).map_or(0, Lot::free)
    }

    /// The credits left in a cycle's lots, held ones included.
    pub(in crate::wallet) fn left_of(&self, cycle: CycleTag) -> i64 {
        let numbers = self.lots.of_cycle(cycle).into_iter();
        let lots = numbers.filter_map(|number| self.lots.get(number));
        lots.map(|lot| lot.left).fold(0, i64::saturating_add)
    }

    /// Makes a cycle's lots expire at `at` or sooner. Held credits expire when they are given back.
    pub(in crate::wallet) fn end_cycle(&mut self, cycle: CycleTag, at: Timestamp) {
        for number in self.lots.of_cycle(cycle) {
            let end = |lot: &mut Lot| lot.expires_at = lot.expires_at.min(at);
            self.lots.update(number, end);
        }
    }

    /// A copy with only this lot and those of a cycle: what a purchase can touch.
    pub(in crate::wallet) fn sketch(&self, lot: Option<u64>, cycle: Option<CycleTag>) -> Self {
        let mut numbers = cycle.map_or_else(Vec::new, |cycle| self.lots.of_cycle(cycle));
        numbers.extend(lot.filter(|number| !numbers.contains(number)));
        let lots = numbers.iter().filter_map(|&number| self.lots.get(number));
        Self {
            product: self.product,
            balance: self.balance,
            held: self.held,
            free: self.free,
            debt: self.debt.clone(),
            lots: lots.cloned().collect(),
            next_lot: self.next_lot,
            last_taken: self.last_taken,
            carried: self.carried,
        }
    }

    /// Takes free credits in burn order; `taken` is called with each lot before it changes, and how many it loses.
    pub(in crate::wallet) fn burn(
        &mut self,
        credits: i64,
        mut taken: impl FnMut(&Lot, i64),
    ) -> Result<(), Corrupt> {
        if credits < 0 || credits > self.available() {
            return Err(Corrupt("a deduction exceeds the spendable balance"));
        }
        let mut rest = credits;
        while rest > 0 {
            let (lot, amount) = self.next_free(rest)?;
            taken(lot, amount);
            let number = lot.number;
            let take = |lot: &mut Lot| lot.left = lot.left.saturating_sub(amount);
            self.lots.update(number, take);
            rest = rest.saturating_sub(amount);
        }
        self.balance = self.balance.saturating_sub(credits);
        Ok(())
    }

    /// Pins free credits in burn order. Returns the lots and how much of each.
    pub(in crate::wallet) fn pin(&mut self, credits: i64) -> Result<Vec<(u64, i64)>, Corrupt> {
        if credits > self.available() {
            return Err(Corrupt("a hold exceeds the spendable balance"));
        }
        let mut rest = credits;
        let mut pins = Vec::new();
        while rest > 0 {
            let (lot, pinned) = self.next_free(rest)?;
            let number = lot.number;
            let pin = |lot: &mut Lot| lot.held = lot.held.saturating_add(pinned);
            self.lots.update(number, pin);
            pins.push((number, pinned));
            rest = rest.saturating_sub(pinned);
        }
        self.held = self.held.saturating_add(credits);
        Ok(pins)
    }

    /// The next lot to burn, and how many of up to `most` free credits it has.
    fn next_free(&self, most: i64) -> Result<(&Lot, i64), Corrupt> {
        let lot = self.lots.first_free();
        let lot = lot.ok_or(Corrupt("lots do not add up to the balance"))?;
        Ok((lot, lot.free().min(most)))
    }

    /// Gives pinned credits back, after spending up to `spend` of them in burn order: lots of a cycle that ended since
    /// come first. Returns the lots that were spent.
    pub(in crate::wallet) fn unpin(
        &mut self,
        mut pins: Vec<(u64, i64)>,
        spend: i64,
    ) -> Result<Vec<TakenLot>, Corrupt> {
        let end = |number| self.lots.get(number).map(|lot| lot.expires_at);
        pins.sort_by_cached_key(|&(number, _)| (end(number), number));
        let (mut rest, mut spent) = (spend, Vec::new());
        for (number, pinned) in pins {
            let taken = pinned.min(rest);
            if taken > 0 {
                let lot = self.lots.get(number);
                spent.extend(lot.map(|lot| TakenLot::of(lot, taken)));
            }
            let give_back = |lot: &mut Lot| {
                lot.held = lot.held.saturating_sub(pinned);
                lot.left = lot.left.saturating_sub(taken);
            };
            let updated = self.lots.update(number, give_back);
            updated.ok_or(Corrupt("a hold pins a lot that is gone"))?;
            self.held = self.held.saturating_sub(pinned);
            self.balance = self.balance.saturating_sub(taken);
            rest = rest.saturating_sub(taken);
        }
        Ok(spent)
    }

    /// Takes free credits out of one lot. Returns the order that bought them.
    pub(in crate::wallet) fn take_from(
        &mut self,
        number: u64,
        credits: i64,
    ) -> Result<Option<OrderSerial>, Corrupt> {
        let enough = self.lots.get(number).filter(|lot| lot.free() >= credits);
        let order = enough.ok_or(Corrupt("more is taken than a lot has"))?.order;
        let take = |lot: &mut Lot| lot.left = lot.left.saturating_sub(credits);
        self.lots.update(number, take);
        self.balance = self.balance.saturating_sub(credits);
        Ok(order)
    }
}
