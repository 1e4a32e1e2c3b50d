//! Settling a hold for what the work cost, also when the hold has expired meanwhile.

use super::{
    debt_limit::DebtLimit,
    deduct::met_before,
    shortfall::{CostDecision, Coverage, OfHold, OnShortfall},
};
use crate::{
    Rejection,
    history::{ExpiredHold, HoldStatus, Record},
    id::HoldId,
    text::IdempotencyKey,
    wallet::state::{Wallet, debt::Charged, event::Change},
};

/// A request to settle a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settle {
    /// The hold to settle.
    pub hold: HoldId,
    /// The whole cost, 0 or more; what was drawn is a part of it.
    pub amount: i64,
    /// What to do where neither the hold nor the balance has enough.
    pub on_shortfall: OnShortfall,
}

impl Settle {
    /// The key under which the hold may be settled although it has expired, if this request may.
    #[must_use]
    pub fn late_key<'a>(&self, closed: Option<&'a Record>) -> Option<&'a IdempotencyKey> {
        let expired = closed.and_then(Record::expired);
        let late = expired.filter(|_| self.on_shortfall != OnShortfall::Refuse);
        late.map(|expired| &expired.key)
    }
}

impl Wallet {
    /// Decides to settle a hold. `closed` is the record that closed it; `late` that of a deduction under
    /// [`Settle::late_key`], `reversed` that of what was given back of it.
    ///
    /// # Errors
    ///
    /// [`Rejection::HoldNotFound`], [`Rejection::HoldClosed`] with another outcome, [`Rejection::KeyReused`] where an
    /// expired hold was settled for another cost, [`Rejection::BalanceLimit`] where what was drawn from one too much
    /// would not fit into the balance any more, [`Rejection::Frozen`] where a frozen wallet would pay more than the hold
    /// set aside, or [`Rejection::Insufficient`] if a shortfall is to be refused.
    pub fn settle(
        &self,
        command: Settle,
        closed: Option<&Record>,
        (late, reversed): (Option<&Record>, Option<&Record>),
        limits: &[DebtLimit],
    ) -> Result<CostDecision, Rejection> {
        let Settle {
            hold: id,
            amount,
            on_shortfall,
        } = command;
        if let Some(expired) = closed.and_then(Record::expired)
            && on_shortfall != OnShortfall::Refuse
        {
            return self.settle_late(command, expired, (late, reversed), limits);
        }
        let hold = self.find_hold(&id, closed)?;
        let product = hold.product;
        let decided = |coverage, change| CostDecision {
            product,
            coverage,
            late: false,
            change,
        };
        match hold.status {
            HoldStatus::Open => {
                let beside = OfHold {
                    pinned: hold.amount.get().max(hold.drawn),
                    max_overrun: hold.max_overrun,
                };
                let coverage = self.cover(product, amount, beside, on_shortfall, limits)?;
                let Coverage {
                    owed, uncovered, ..
                } = coverage;
                let change = Change::HoldSettled {
                    hold: id,
                    amount,
                    owed,
                    uncovered,
                };
                Ok(decided(coverage, Some(change)))
            }
            HoldStatus::Settled if hold.settled.saturating_add(hold.uncovered) == amount => {
                let coverage = Coverage {
                    charged: hold.settled.saturating_sub(hold.owed),
                    owed: hold.owed,
                    uncovered: hold.uncovered,
                };
                Ok(decided(coverage, None))
            }
            HoldStatus::Settled | HoldStatus::Released | HoldStatus::Expired => {
                Err(Rejection::HoldClosed)
            }
        }
    }

    /// A deduction, under the hold's key, of what was not drawn before the hold expired.
    fn settle_late(
        &self,
        command: Settle,
        expired: &ExpiredHold,
        (prior, reversed): (Option<&Record>, Option<&Record>),
        limits: &[DebtLimit],
    ) -> Result<CostDecision, Rejection> {
        let ExpiredHold {
            hold, key, meta, ..
        } = expired;
        let (product, drawn) = (hold.product, hold.drawn);
        let amount = command.amount.saturating_sub(drawn);
        let decided = |coverage: Coverage, change| CostDecision {
            product,
            coverage: coverage.beside(drawn),
            late: true,
            change,
        };
        if let Some((of, deducted, coverage)) = prior.and_then(met_before) {
            return if of == product && deducted == amount {
                Ok(decided(coverage, None))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        if amount > 0 {
            self.refuse_frozen()?;
        }
        // What was drawn too much may have been given back already.
        if amount < 0 && reversed.is_some() {
            return Err(Rejection::HoldClosed);
        }
        if self.room(product) < amount.saturating_neg() {
            return Err(Rejection::BalanceLimit);
        }
        let coverage = if amount > 0 {
            let nothing = OfHold::default();
            self.cover(product, amount, nothing, command.on_shortfall, limits)?
        } else {
            Coverage::full(amount)
        };
        let charged = Charged {
            product,
            amount,
            charged: coverage.charged,
            owed: coverage.owed,
            key: key.clone(),
            meta: meta.clone(),
            lot: expired.last_lot(),
        };
        Ok(decided(coverage, Some(Change::Charged(Box::new(charged)))))
    }
}
