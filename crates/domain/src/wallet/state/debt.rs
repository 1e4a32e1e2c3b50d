//! What an account owes, has reserved and has drawn from open holds. It is behind one pointer, because few accounts
//! have any of it.

use serde::{Deserialize, Serialize};

use super::{account::Account, corrupt::Corrupt, taken::LastLot};
use crate::{
    amount::MAX_CREDITS,
    id::ProductId,
    limit::Counted,
    rate_card::{Cost, RatedUse},
    text::{IdempotencyKey, Meta},
};

/// What an account owes, has reserved and has drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Debt {
    /// Credits that were used beyond the balance and are not paid yet.
    pub owed: i64,
    /// How much more open holds may owe.
    pub reserved: i64,
    /// Credits drawn from open holds: charged already, though their lots stay pinned until the hold is closed.
    pub drawn: i64,
    /// Drawn credits that holds gave back since credits were last added and that are unused; alerts do not count them.
    pub given_back: i64,
    /// The wallet's own limit of `owed`, in place of the product's.
    pub limit: Option<i64>,
}

/// A deduction that the balance did not cover in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Charged {
    pub product: ProductId,
    /// The cost; for an expired hold less what was drawn, so negative if more was drawn than used.
    pub amount: i64,
    /// Credits that were used; negative if they were given back.
    pub charged: i64,
    pub owed: i64,
    /// The caller's key, or the hold's.
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
    /// The lot that credits return to, if more was drawn than used.
    pub lot: Option<LastLot>,
    pub rate: Option<Box<RatedUse>>,
    /// The exact cost of what was drawn before, if a rate card prices all of the work.
    pub drawn_cost: Cost,
    pub counted: Option<Box<Counted>>,
}

impl Account {
    /// The debt; all zero if there is none.
    pub fn debt(&self) -> Debt {
        self.debt.as_deref().copied().unwrap_or_default()
    }

    /// The sum of all ledger deltas: spendable and held credits, less owed ones.
    pub fn sum(&self) -> i64 {
        let Debt { owed, drawn, .. } = self.debt();
        self.balance.saturating_sub(drawn).saturating_sub(owed)
    }

    /// Credits that are not charged: those that can be spent and those that open holds set aside.
    pub fn left(&self) -> i64 {
        self.balance.saturating_sub(self.debt().drawn)
    }

    /// The least that was left since credits were last added: what a hold gives back of drawn credits does not raise
    /// it.
    pub fn least_left(&self) -> i64 {
        self.left().saturating_sub(self.debt().given_back).max(0)
    }

    pub(in crate::wallet) fn count_given_back(&mut self, credits: i64) -> Result<(), Corrupt> {
        if credits <= 0 {
            return Ok(());
        }
        self.change_debt(|debt| debt.given_back = debt.given_back.saturating_add(credits))
    }

    /// Counts credits that were used of what holds gave back; `None` resets the count, because credits were added.
    pub(in crate::wallet) fn count_used(&mut self, credits: Option<i64>) -> Result<(), Corrupt> {
        if self.debt.is_none() {
            return Ok(());
        }
        self.change_debt(|debt| {
            let rest = credits.map_or(0, |used| debt.given_back.saturating_sub(used));
            debt.given_back = rest.max(0);
        })
    }

    /// Credits that open holds still set aside: what was drawn from them is charged.
    pub fn set_aside(&self) -> i64 {
        self.held.saturating_sub(self.debt().drawn)
    }

    /// Changes the debt. An empty one takes no memory.
    pub(in crate::wallet) fn change_debt(
        &mut self,
        change: impl FnOnce(&mut Debt),
    ) -> Result<(), Corrupt> {
        let mut debt = self.debt();
        change(&mut debt);
        if !debt.is_sound() {
            return Err(Corrupt("a debt is out of bounds"));
        }
        match &mut self.debt {
            _ if debt == Debt::default() => self.debt = None,
            Some(kept) => **kept = debt,
            none => *none = Some(Box::new(debt)),
        }
        Ok(())
    }

    /// Pays the debt with new credits; returns the rest.
    pub(in crate::wallet) fn repay(&mut self, credits: i64) -> Result<i64, Corrupt> {
        let paid = self.repaid_by(credits);
        if paid > 0 {
            self.change_debt(|debt| debt.owed = debt.owed.saturating_sub(paid))?;
        }
        Ok(credits.saturating_sub(paid))
    }

    /// How much of the debt so many credits would pay.
    pub(in crate::wallet) fn repaid_by(&self, credits: i64) -> i64 {
        self.debt().owed.min(credits).max(0)
    }
}

impl Debt {
    pub(in crate::wallet) fn is_sound(&self) -> bool {
        let bounds = 0..=MAX_CREDITS;
        let all = [self.owed, self.reserved, self.drawn, self.given_back];
        all.iter().chain(&self.limit).all(|it| bounds.contains(it))
    }
}
