//! Costs, draws and debts of the naive model: coins that were spent before there were any.

use std::collections::HashMap;

use super::{
    balances::SpentCoin,
    model::{Model, ModelHold, Operation, Outcome},
};
use crate::{
    Rejection,
    history::{HoldStatus, Reason},
    id::ProductId,
    wallet::shortfall::OnShortfall,
};

/// A cost as it was met once: of which product, how much, and in what parts.
type Met = (ProductId, i64, Split);

/// Charged, owed, uncovered.
type Split = [i64; 3];

#[derive(Debug, Default)]
pub(super) struct ModelDebts {
    owed: HashMap<ProductId, i64>,
    /// The products' limits, and the wallet's own.
    pub(super) general: HashMap<ProductId, i64>,
    pub(super) own: HashMap<ProductId, i64>,
    met: HashMap<String, Met>,
    forgiven: HashMap<String, (ProductId, Option<i64>, i64)>,
    /// All deductions, in the order of the ledger.
    deductions: Vec<ModelDeduction>,
    reversed: HashMap<String, (usize, Option<i64>, i64)>,
}

/// A line of the ledger that took coins.
#[derive(Debug, Clone)]
struct ModelDeduction {
    product: ProductId,
    coins: i64,
    /// The hold, which has what was taken; otherwise it is here.
    hold: Option<u128>,
    row: ModelRow,
    reversed: i64,
}

/// What was taken: coins in this order, and then what was owed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ModelRow {
    coins: Vec<SpentCoin>,
    owed: i64,
    /// What went back, by reversals and by a late settlement.
    reversed: i64,
    late: i64,
}

impl ModelDebts {
    pub(super) fn owed(&self, product: ProductId) -> i64 {
        self.owed.get(&product).copied().unwrap_or(0)
    }

    /// Pays with coins one by one; how many are left.
    pub(super) fn pay(&mut self, product: ProductId, coins: i64) -> i64 {
        let owed = self.owed.entry(product).or_insert(0);
        let mut rest = coins;
        while rest > 0 && *owed > 0 {
            *owed -= 1;
            rest -= 1;
        }
        rest
    }

    fn limit(&self, product: ProductId) -> i64 {
        let own = self.own.get(&product);
        own.or(self.general.get(&product)).copied().unwrap_or(0)
    }
}

impl ModelHold {
    fn pinned(&self) -> i64 {
        self.amount.max(self.drawn)
    }
}

impl Model {
    /// What is owed and may come to be owed by holds, and the limit of it.
    pub(super) fn exposure(&self, product: ProductId) -> (i64, i64) {
        let open = |it: &&ModelHold| it.product == product && it.status == HoldStatus::Open;
        let reserved: i64 = self.holds.values().filter(open).map(|it| it.overrun).sum();
        (
            self.debts.owed(product) + reserved,
            self.debts.limit(product),
        )
    }

    pub(super) fn unreserved(&self, product: ProductId) -> i64 {
        let (exposure, limit) = self.exposure(product);
        limit - exposure
    }

    pub(super) fn deduct(
        &mut self,
        product: Option<ProductId>,
        coins: i64,
        key: &str,
        short: OnShortfall,
    ) -> Outcome {
        self.touch();
        if let Some(&(former, amount, parts)) = self.debts.met.get(key) {
            return if product.is_none_or(|it| it == former) && amount == coins {
                self.met(former, parts, (false, false))
            } else {
                Outcome::Refused(Rejection::KeyReused)
            };
        }
        let product = match self.named(product) {
            Ok(product) => product,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        if let Err(refusal) = self.not_frozen() {
            return Outcome::Refused(refusal);
        }
        match self.charge(product, coins, key, short) {
            Ok(parts) => self.met(product, parts, (true, false)),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    fn met(&self, product: ProductId, parts: Split, (now, late): (bool, bool)) -> Outcome {
        let [charged, owed, uncovered] = parts.map(|part| part * self.worth);
        Outcome::Met {
            product,
            charged,
            owed,
            uncovered,
            now,
            late,
        }
    }

    /// Spends coins one by one: those that there are, then those that may be owed.
    fn charge(
        &mut self,
        product: ProductId,
        coins: i64,
        key: &str,
        short: OnShortfall,
    ) -> Result<Split, Rejection> {
        let parts = self.parts(product, coins, self.coins.count(product, None), short, 0);
        let parts = parts.ok_or_else(|| self.short(product, coins, coins))?;
        self.date(self.now);
        let [charged, owed, _] = parts;
        let spent = self.coins.spend(product, None, charged);
        *self.debts.owed.entry(product).or_insert(0) += owed;
        if charged + owed > 0 {
            self.write(product, Reason::Deduction, -charged - owed, Some(key));
            let row = ModelRow {
                coins: spent,
                owed,
                ..ModelRow::default()
            };
            self.took(product, charged + owed, None, row);
        }
        self.debts
            .met
            .insert(key.to_owned(), (product, coins, parts));
        Ok(parts)
    }

    /// The parts of a cost; `None`: it is refused.
    fn parts(
        &self,
        product: ProductId,
        cost: i64,
        there: i64,
        short: OnShortfall,
        overrun: i64,
    ) -> Option<Split> {
        let charged = cost.min(there);
        let room = (self.unreserved(product) + overrun).max(overrun).max(0);
        match (cost - charged, short) {
            (0, _) => Some([cost, 0, 0]),
            (_, OnShortfall::Refuse) => None,
            (rest, OnShortfall::Drain) => Some([charged, 0, rest]),
            (rest, OnShortfall::Owe) => {
                let owed = rest.min(room);
                Some([charged, owed, rest - owed])
            }
        }
    }

    pub(super) fn settle(&mut self, serial: u128, coins: i64, short: OnShortfall) -> Outcome {
        self.touch();
        let Some(hold) = self.holds.get(&serial).cloned() else {
            return Outcome::Refused(Rejection::HoldNotFound);
        };
        let product = hold.product;
        match hold.status {
            HoldStatus::Open => {}
            HoldStatus::Settled if hold.settled + hold.uncovered == coins => {
                let parts = [hold.settled - hold.owed, hold.owed, hold.uncovered];
                return self.met(product, parts, (false, false));
            }
            HoldStatus::Expired | HoldStatus::Released if short != OnShortfall::Refuse => {
                return self.settle_late(serial, &hold, coins, short);
            }
            _ => return Outcome::Refused(Rejection::HoldClosed),
        }
        let free = match self.frozen {
            true => 0,
            false => self.coins.count(product, None),
        };
        let there = hold.pinned() + free;
        let Some(parts) = self.parts(product, coins, there, short, hold.overrun) else {
            if let Err(refusal) = self.not_frozen() {
                return Outcome::Refused(refusal);
            }
            let needed = coins - hold.pinned();
            return Outcome::Refused(self.short(product, needed, coins));
        };
        self.date(self.now);
        let [charged, owed, uncovered] = parts;
        self.end(serial, HoldStatus::Settled, charged);
        *self.debts.owed.entry(product).or_insert(0) += owed;
        let hold = self.holds.get_mut(&serial).unwrap();
        (hold.settled, hold.owed, hold.uncovered) = (charged + owed, owed, uncovered);
        hold.row.owed = owed;
        let (delta, key) = (hold.drawn - charged - owed, hold.key.clone());
        match delta {
            0 => {}
            ..0 => {
                self.write(product, Reason::Deduction, delta, Some(&key));
                self.took(product, -delta, Some(serial), ModelRow::default());
            }
            _ => self.write(product, Reason::Reversal, delta, Some(&key)),
        }
        self.met(product, parts, (true, false))
    }

    /// A deduction under the hold's key of what was not drawn.
    fn settle_late(
        &mut self,
        serial: u128,
        hold: &ModelHold,
        coins: i64,
        short: OnShortfall,
    ) -> Outcome {
        let (product, rest) = (hold.product, coins - hold.drawn);
        let beside = |[charged, owed, uncovered]: Split| [charged + hold.drawn, owed, uncovered];
        match self.debts.met.get(&hold.key) {
            Some(&(former, amount, parts)) if former == product && amount == rest => {
                return self.met(product, beside(parts), (false, true));
            }
            Some(_) => return Outcome::Refused(Rejection::KeyReused),
            None => {}
        }
        if rest < 0 && hold.row.reversed > 0 {
            return Outcome::Refused(Rejection::HoldClosed);
        }
        if rest < 0 {
            let back = -rest;
            return match self.take_back(hold, -rest) {
                Ok(()) => {
                    self.holds.get_mut(&serial).unwrap().row.late = back;
                    self.met(product, beside([rest, 0, 0]), (true, true))
                }
                Err(refusal) => Outcome::Refused(refusal),
            };
        }
        if rest > 0
            && let Err(refusal) = self.not_frozen()
        {
            return Outcome::Refused(refusal);
        }
        let parts = self.charge(product, rest, &hold.key, short).unwrap();
        self.met(product, beside(parts), (true, true))
    }

    /// Gives back late what was drawn too much.
    fn take_back(&mut self, hold: &ModelHold, coins: i64) -> Result<(), Rejection> {
        let product = hold.product;
        if coins > self.room(product) {
            return Err(Rejection::BalanceLimit);
        }
        self.date(self.now);
        let rest = self.debts.pay(product, coins);
        let last = *hold.row.coins.last().unwrap();
        let last = self.as_it_ends(last);
        self.coins.restore(product, last, rest, self.touched);
        self.write(product, Reason::Reversal, coins, Some(&hold.key));
        let met = (product, -coins, [-coins, 0, 0]);
        self.debts.met.insert(hold.key.clone(), met);
        Ok(())
    }

    /// A coin that was spent, with the end that those of its order have by now.
    fn as_it_ends(&self, mut one: SpentCoin) -> SpentCoin {
        let order = one.tag.map(|tag| &self.purchases.orders[&tag.serial]);
        one.end = order.map_or(one.end, |order| one.end.min(order.credits_end));
        one
    }

    pub(super) fn draw(&mut self, serial: u128, coins: i64, key: &str) -> Outcome {
        self.touch();
        let Some(hold) = self.holds.get(&serial).cloned() else {
            return Outcome::Refused(Rejection::HoldNotFound);
        };
        let product = hold.product;
        if let Some(outcome) = self.used(Operation::Draw, key, None, coins) {
            return match outcome {
                Outcome::Replayed(about) if about != serial => {
                    Outcome::Refused(Rejection::KeyReused)
                }
                outcome => outcome,
            };
        }
        if hold.status != HoldStatus::Open {
            return Outcome::Refused(Rejection::HoldClosed);
        }
        if let Err(refusal) = self.not_frozen() {
            return Outcome::Refused(refusal);
        }
        let needed = coins - (hold.amount - hold.drawn).max(0);
        if needed > self.coins.count(product, None) {
            return Outcome::Refused(self.short(product, needed, coins));
        }
        self.date(self.now);
        self.coins.hold(product, serial, needed.max(0));
        self.holds.get_mut(&serial).unwrap().drawn += coins;
        self.write(product, Reason::Deduction, -coins, Some(key));
        self.took(product, coins, Some(serial), ModelRow::default());
        self.use_up(Operation::Draw, key, product, coins, serial)
    }

    /// Ends a hold that is not settled: what was drawn stays charged.
    pub(super) fn close(&mut self, serial: u128, status: HoldStatus) {
        let drawn = self.holds[&serial].drawn;
        self.end(serial, status, drawn);
    }

    fn end(&mut self, serial: u128, status: HoldStatus, charged: i64) {
        let hold = self.holds.get_mut(&serial).unwrap();
        hold.status = status;
        let (product, pinned, back) = (hold.product, hold.pinned(), hold.drawn - charged);
        let repaid = back - self.debts.pay(product, back.max(0)) - (back - back.max(0));
        let spent = charged + repaid;
        let mut coins = self.coins.spend(product, Some(serial), spent.min(pinned));
        coins.extend(self.coins.spend(product, None, (spent - pinned).max(0)));
        coins.truncate(charged.try_into().unwrap());
        self.holds.get_mut(&serial).unwrap().row.coins = coins;
        self.coins.give_back(serial);
    }

    fn took(&mut self, product: ProductId, coins: i64, hold: Option<u128>, row: ModelRow) {
        self.debts.deductions.push(ModelDeduction {
            product,
            coins,
            hold,
            row,
            reversed: 0,
        });
    }

    /// Gives coins of a deduction back, the last one that was taken first.
    pub(super) fn reverse_deduction(
        &mut self,
        back: usize,
        most: Option<i64>,
        key: &str,
    ) -> Option<Outcome> {
        self.touch();
        let number = self.debts.deductions.len().checked_sub(back)?;
        if let Some(&(former, requested, coins)) = self.debts.reversed.get(key) {
            return Some(if (former, requested) == (number, most) {
                Outcome::Forgiven(coins * self.worth)
            } else {
                Outcome::Refused(Rejection::KeyReused)
            });
        }
        let deduction = self.debts.deductions[number].clone();
        let product = deduction.product;
        let row = match deduction.hold {
            Some(hold) if self.holds[&hold].status == HoldStatus::Open => {
                return Some(Outcome::Refused(Rejection::HoldOpen));
            }
            Some(hold) => self.holds[&hold].row.clone(),
            None => deduction.row,
        };
        let gone = row.reversed + row.late;
        let sum = row.coins.len() as i64 + row.owed;
        let left = (sum - gone).min(deduction.coins - deduction.reversed);
        let coins = most.unwrap_or(left);
        if coins > left || coins == 0 {
            let reversible = left * self.worth;
            return Some(Outcome::Refused(Rejection::AlreadyReversed { reversible }));
        }
        if coins > self.room(product) {
            return Some(Outcome::Refused(Rejection::BalanceLimit));
        }
        self.date(self.now);
        let paid = coins - self.debts.pay(product, coins);
        for place in gone + paid..gone + coins {
            // From the end: first what was owed, then coins.
            let Some(from_last) = place.checked_sub(row.owed).filter(|it| *it >= 0) else {
                self.coins.grant(product, Reason::Manual, 1, i64::MAX);
                continue;
            };
            let one = row.coins[row.coins.len() - 1 - usize::try_from(from_last).unwrap()];
            self.coins
                .put_back(product, self.as_it_ends(one), self.touched);
        }
        self.write(product, Reason::Reversal, coins, Some(key));
        let deduction = &mut self.debts.deductions[number];
        deduction.reversed += coins;
        match deduction.hold {
            Some(hold) => self.holds.get_mut(&hold).unwrap().row.reversed += coins,
            None => deduction.row.reversed += coins,
        }
        let used = (number, most, coins);
        self.debts.reversed.insert(key.to_owned(), used);
        Some(Outcome::Applied)
    }

    pub(super) fn forgive(&mut self, product: ProductId, most: Option<i64>, key: &str) -> Outcome {
        self.touch();
        if let Some(&(former, requested, coins)) = self.debts.forgiven.get(key) {
            return if (former, requested) == (product, most) {
                Outcome::Forgiven(coins * self.worth)
            } else {
                Outcome::Refused(Rejection::KeyReused)
            };
        }
        let owed = self.debts.owed(product);
        let coins = most.map_or(owed, |most| most.min(owed));
        if coins == 0 {
            return Outcome::Forgiven(0);
        }
        self.date(self.now);
        self.debts.pay(product, coins);
        self.write(product, Reason::Forgiveness, coins, Some(key));
        let used = (product, most, coins);
        self.debts.forgiven.insert(key.to_owned(), used);
        Outcome::Applied
    }

    /// Sets or removes the wallet's own limit; whether that changed anything.
    pub(super) fn limit_debt(&mut self, product: ProductId, limit: Option<i64>) -> bool {
        self.touch();
        let former = match limit {
            Some(limit) => self.debts.own.insert(product, limit),
            None => self.debts.own.remove(&product),
        };
        let changed = former != limit;
        if changed {
            self.date(self.now);
        }
        changed
    }
}
