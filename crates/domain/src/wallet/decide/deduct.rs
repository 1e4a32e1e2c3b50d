//! Decides about a deduction.

use super::{
    ProductRef, UseRules,
    limits::Spent,
    shortfall::{CostDecision, Coverage, OfHold, OnShortfall},
};
use crate::{
    Rejection,
    history::{Charge, Record, RecordContent},
    id::ProductId,
    limit::Spender,
    rate_card::{Cost, RatedUse, Rating, WorkCost},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{Wallet, debt::Charged, event::Change, limits::Use},
};

/// A request to deduct credits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Deduct {
    pub product: ProductRef,
    pub cost: WorkCost,
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
    /// What to do where the balance does not cover the amount.
    pub on_shortfall: OnShortfall,
    pub by: Spender,
}

impl Wallet {
    /// Decides a deduction on an up-to-date wallet. `prior` is the record of this key's former use for a deduction.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::ProductRequired`], [`Rejection::Unrated`], [`Rejection::Frozen`],
    /// [`Rejection::LimitExceeded`], [`Rejection::TooManyScopes`], or [`Rejection::Insufficient`] if a shortfall is to
    /// be refused.
    pub fn deduct(
        &self,
        command: Deduct,
        prior: Option<&Record>,
        rules: UseRules<'_>,
        now: Timestamp,
    ) -> Result<CostDecision, Rejection> {
        if let Some(Met {
            product,
            amount,
            coverage,
            rate,
        }) = prior.and_then(met_before)
        {
            let same = command.cost.is(amount, rate) && command.product.matches(product);
            if !same {
                return Err(Rejection::KeyReused);
            }
            return Ok(CostDecision {
                product,
                coverage,
                late: false,
                rate: rate.cloned().map(Box::new),
                change: None,
            });
        }
        let product = command.cost.product(command.product)?;
        let (cost, rate) = match command.cost {
            WorkCost::Credits(amount) => (amount.get(), None),
            WorkCost::Metered(used) => {
                self.charge_for(*used, product, Rating::whole, Cost::default())?
            }
        };
        self.refuse_frozen()?;
        let used = Use {
            credits: cost,
            operations: 1,
            ..Use::default()
        };
        let spent = Spent {
            by: &command.by,
            meta: command.meta.as_ref(),
            product,
            at: self.date(now),
        };
        let counted = self.admit(rules.limits, spent, used)?;
        let beside = OfHold::default();
        let coverage = self.cover(product, cost, beside, command.on_shortfall, rules.debts)?;
        let Deduct { key, meta, .. } = command;
        let change = if coverage.is_full() {
            Change::Deducted {
                product,
                amount: cost,
                key,
                meta,
                rate: rate.clone(),
                counted,
            }
        } else {
            Change::Charged(Box::new(Charged {
                product,
                amount: cost,
                charged: coverage.charged,
                owed: coverage.owed,
                key,
                meta,
                lot: None,
                rate: rate.clone(),
                drawn_cost: Cost::default(),
                counted,
            }))
        };
        Ok(CostDecision {
            product,
            coverage,
            late: false,
            rate,
            change: Some(change),
        })
    }

    /// Refuses if `needed` credits cannot be spent; `requested` is the caller's amount.
    pub(super) fn afford(
        &self,
        product: ProductId,
        needed: i64,
        requested: i64,
    ) -> Result<(), Rejection> {
        let balance = self.available(product);
        if needed <= balance {
            return Ok(());
        }
        let shortfall = needed.saturating_sub(balance);
        Err(Rejection::Insufficient {
            product,
            balance,
            requested,
            shortfall,
        })
    }
}

/// What a key's former deduction cost.
pub(super) struct Met<'a> {
    pub(super) product: ProductId,
    pub(super) amount: i64,
    pub(super) coverage: Coverage,
    pub(super) rate: Option<&'a RatedUse>,
}

pub(super) fn met_before(record: &Record) -> Option<Met<'_>> {
    let (entry, amount, coverage) = match &record.fact {
        RecordContent::Charged(charge, entry, _) => {
            let Charge {
                amount,
                owed,
                uncovered,
            } = *charge;
            let charged = amount.saturating_sub(owed).saturating_sub(uncovered);
            let coverage = Coverage {
                charged,
                owed,
                uncovered,
            };
            (entry, amount, coverage)
        }
        _ => {
            let entry = record.entry()?;
            let amount = entry.delta.saturating_neg();
            (entry, amount, Coverage::full(amount))
        }
    };
    Some(Met {
        product: entry.product,
        amount,
        coverage,
        rate: entry.rate.as_deref(),
    })
}
