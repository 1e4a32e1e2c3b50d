//! Granting credits by hand.

use super::Decision;
use crate::{
    Rejection,
    amount::Amount,
    history::{Reason, Record},
    id::ProductId,
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{Wallet, account::Account, event::Change},
};

/// The most lots of one product before manual grants cannot add another. Purchases and free grants are always credited.
pub const MAX_LOTS: usize = 1000;

/// A request to add credits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Credit {
    pub product: ProductId,
    pub amount: Amount,
    pub expires_at: Option<Timestamp>,
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
}

impl Wallet {
    /// Decides a grant on an up-to-date wallet. `prior` is the record of this key's former use for a grant.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::ExpiryPast`], [`Rejection::BalanceLimit`] or [`Rejection::TooManyLots`].
    pub fn credit(
        &self,
        command: Credit,
        prior: Option<&Record>,
        now: Timestamp,
    ) -> Result<Decision<ProductId>, Rejection> {
        let Credit {
            product,
            amount,
            expires_at,
            key,
            meta,
        } = command;
        if let Some(entry) = prior.and_then(Record::entry) {
            let same = entry.product == product && entry.delta == amount.get();
            return if same {
                Ok(Decision::Replay(product))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        if expires_at.is_some_and(|end| end <= now) {
            return Err(Rejection::ExpiryPast);
        }
        if self.room(product) < amount.get() {
            return Err(Rejection::BalanceLimit);
        }
        let end = expires_at.unwrap_or(Timestamp::NEVER);
        // Credits that only pay a debt make no lot.
        let full = |a: &Account| {
            a.lot_count() >= MAX_LOTS
                && !a.has_lot(Reason::Manual, end)
                && amount.get() > a.debt().owed
        };
        if self.account(product).is_some_and(full) {
            return Err(Rejection::TooManyLots);
        }
        Ok(Decision::Accept(Change::Granted {
            product,
            amount,
            expires_at,
            key,
            meta,
        }))
    }
}
