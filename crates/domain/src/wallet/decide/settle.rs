//! Settles a hold for what the work cost, also after it was released or expired.

use super::{
    debt_limit::DebtLimit,
    deduct::met_before,
    hold::over,
    shortfall::{CostDecision, Coverage, OfHold, OnShortfall},
};
use crate::{
    Rejection,
    history::{EndedHold, HoldStatus, Record},
    id::HoldId,
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{Wallet, debt::Charged, event::Change},
};

/// How long after its end a publishable key may settle a hold.
const LATE_SECONDS: i64 = 86_400;

/// A request to settle a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// The hold to settle.
    pub hold: HoldId,
    /// The whole cost, 0 or more; what was drawn is a part of it.
    pub amount: i64,
    /// What to do where neither the hold nor the balance has enough.
    pub on_shortfall: OnShortfall,
    /// Whether a publishable key settles it. It may do so late for a day, for at most what was held.
    pub publishable: bool,
    /// The caller's note, over that of the hold.
    pub meta: Option<Meta>,
}

/// What happened under a hold's key before it is settled late.
#[derive(Debug, Clone, Copy, Default)]
pub struct Late<'a> {
    /// The record of a deduction under [`Settle::late_key`].
    pub deduction: Option<&'a Record>,
    /// That of what was given back of it.
    pub reversed: Option<&'a Record>,
}

impl Settle {
    /// The key for a late settlement of a released or expired hold, if this request may make one.
    pub fn late_key<'a>(&self, closed: Option<&'a Record>) -> Option<&'a IdempotencyKey> {
        let ended = closed.and_then(Record::ended_hold);
        let late = ended.filter(|_| self.on_shortfall != OnShortfall::Refuse);
        late.map(|ended| &ended.key)
    }
}

impl Wallet {
    /// Decides to settle a hold. `closed` is the record that closed it.
    /// # Errors
    /// [`Rejection::HoldNotFound`], [`Rejection::HoldClosed`] with another outcome, [`Rejection::KeyReused`] where an
    /// ended hold was settled late for another cost, [`Rejection::BalanceLimit`] where what was drawn from one too much
    /// would not fit into the balance any more, [`Rejection::Frozen`] where a frozen wallet would pay more than the hold
    /// set aside, [`Rejection::MetaTooLarge`], or [`Rejection::Insufficient`] if a shortfall is to be refused.
    pub fn settle(
        &self,
        command: Settle,
        closed: Option<&Record>,
        late: Late<'_>,
        limits: &[DebtLimit],
        now: Timestamp,
    ) -> Result<CostDecision, Rejection> {
        let Settle {
            hold: id,
            amount,
            on_shortfall,
            ..
        } = command;
        if let Some(record) = closed
            && let Some(ended) = record.ended_hold()
            && on_shortfall != OnShortfall::Refuse
        {
            let is_in_time = now <= record.at.plus_seconds(LATE_SECONDS);
            return self.settle_late(command, (ended, is_in_time), late, limits);
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
                let meta = self.note_over(&id, command.meta)?;
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
                    meta,
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

    /// A deduction, under the hold's key, of what was not drawn before the hold ended. A hold placed by a publishable
    /// key under a former code cannot be settled late: a thief of that code may have placed it.
    fn settle_late(
        &self,
        command: Settle,
        (ended, is_in_time): (&EndedHold, bool),
        Late {
            deduction: prior,
            reversed,
        }: Late<'_>,
        limits: &[DebtLimit],
    ) -> Result<CostDecision, Rejection> {
        let EndedHold {
            hold, key, meta, ..
        } = ended;
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
        let ended_with_code = hold.publishable && self.is_of_former_code(hold);
        if ended_with_code || command.publishable && !is_in_time {
            return Err(Rejection::HoldClosed);
        }
        if amount > 0 {
            self.refuse_frozen()?;
        }
        // A reversal may have given the excess back already.
        if amount < 0 && reversed.is_some() {
            return Err(Rejection::HoldClosed);
        }
        if self.room(product) < amount.saturating_neg() {
            return Err(Rejection::BalanceLimit);
        }
        let meta = over(command.meta, meta.as_ref())?.or_else(|| meta.clone());
        let coverage = if amount > 0 {
            let held = hold.amount.get().saturating_sub(drawn).max(0);
            let most = if command.publishable { held } else { amount };
            let (most, nothing) = (amount.min(most), OfHold::default());
            let met = self.cover(product, most, nothing, command.on_shortfall, limits)?;
            let beyond = amount.saturating_sub(most);
            let uncovered = met.uncovered.saturating_add(beyond);
            Coverage { uncovered, ..met }
        } else {
            Coverage::full(amount)
        };
        let charged = Charged {
            product,
            amount,
            charged: coverage.charged,
            owed: coverage.owed,
            key: key.clone(),
            meta,
            lot: ended.last_lot(),
        };
        Ok(decided(coverage, Some(Change::Charged(Box::new(charged)))))
    }
}
