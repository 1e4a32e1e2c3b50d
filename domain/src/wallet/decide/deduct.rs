//! Using credits up.

use super::{Decision, ProductRef};
use crate::{
    Rejection,
    amount::Amount,
    history::Record,
    id::ProductId,
    text::{IdempotencyKey, Meta},
    wallet::state::{Wallet, event::Change},
};

/// A request to deduct credits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deduct {
    /// The product whose credits are used.
    pub product: ProductRef,
    /// Credits to deduct.
    pub amount: Amount,
    /// The idempotency key: the operation is applied once.
    pub key: IdempotencyKey,
    /// The caller's note.
    pub meta: Option<Meta>,
}

impl Wallet {
    /// Decides a deduction on an up-to-date wallet. `prior` is the record of this key's former use for a deduction.
    ///
    /// # Errors
    ///
    /// [`Rejection::KeyReused`], [`Rejection::ProductRequired`] or [`Rejection::Insufficient`].
    pub fn deduct(
        &self,
        command: Deduct,
        prior: Option<&Record>,
    ) -> Result<Decision<ProductId>, Rejection> {
        if let Some(entry) = prior.and_then(Record::entry) {
            let same = command.product.matches(entry.product)
                && entry.delta.checked_neg() == Some(command.amount.get());
            return if same {
                Ok(Decision::Replay(entry.product))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        let product = command.product.resolve()?;
        self.afford(product, command.amount.get(), command.amount.get())?;
        let Deduct {
            amount, key, meta, ..
        } = command;
        Ok(Decision::Accept(Change::Deducted {
            product,
            amount,
            key,
            meta,
        }))
    }

    /// Refuses when `needed` credits are not spendable; `requested` is what the caller named.
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
