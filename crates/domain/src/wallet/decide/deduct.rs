//! Decides about a deduction.

use super::{
    ProductRef,
    debt_limit::DebtLimit,
    shortfall::{CostDecision, Coverage, OfHold, OnShortfall},
};
use crate::{
    Rejection,
    amount::Amount,
    history::{Charge, Record, RecordContent},
    id::ProductId,
    text::{IdempotencyKey, Meta},
    wallet::state::{Wallet, debt::Charged, event::Change},
};

/// A request to deduct credits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Deduct {
    pub product: ProductRef,
    pub amount: Amount,
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
    /// What to do where the balance does not cover the amount.
    pub on_shortfall: OnShortfall,
}

impl Wallet {
    /// Decides a deduction on an up-to-date wallet. `prior` is the record of this key's former use for a deduction.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::ProductRequired`], [`Rejection::Frozen`], or [`Rejection::Insufficient`] if a shortfall is to be
    /// refused.
    pub fn deduct(
        &self,
        command: Deduct,
        prior: Option<&Record>,
        limits: &[DebtLimit],
    ) -> Result<CostDecision, Rejection> {
        if let Some((product, amount, coverage)) = prior.and_then(met_before) {
            if !command.product.matches(product) || amount != command.amount.get() {
                return Err(Rejection::KeyReused);
            }
            return Ok(CostDecision {
                product,
                coverage,
                late: false,
                change: None,
            });
        }
        let product = command.product.resolve()?;
        self.refuse_frozen()?;
        let cost = command.amount.get();
        let beside = OfHold::default();
        let coverage = self.cover(product, cost, beside, command.on_shortfall, limits)?;
        let Deduct {
            amount, key, meta, ..
        } = command;
        let change = if coverage.is_full() {
            Change::Deducted {
                product,
                amount,
                key,
                meta,
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
            }))
        };
        Ok(CostDecision {
            product,
            coverage,
            late: false,
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

pub(super) fn met_before(record: &Record) -> Option<(ProductId, i64, Coverage)> {
    match &record.fact {
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
            Some((entry.product, amount, coverage))
        }
        _ => {
            let entry = record.entry()?;
            let amount = entry.delta.saturating_neg();
            Some((entry.product, amount, Coverage::full(amount)))
        }
    }
}
