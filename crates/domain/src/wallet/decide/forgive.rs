//! Forgives a debt. Only this and new credits end one.

use super::Decision;
use crate::{
    Rejection,
    amount::Amount,
    history::{Record, RecordContent},
    id::ProductId,
    text::{IdempotencyKey, Meta},
    wallet::state::{Wallet, event::Change},
};

/// A request to forgive a debt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Forgive {
    pub product: ProductId,
    /// The most to forgive; `None`: all of it.
    pub amount: Option<Amount>,
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
}

impl Wallet {
    /// Decides how much of a debt is forgiven: at most what is owed, so that no credits are made. A replay returns what
    /// was forgiven then; 0 without a former use means that nothing is owed.
    /// # Errors
    /// [`Rejection::KeyReused`].
    pub fn forgive(
        &self,
        command: Forgive,
        prior: Option<&Record>,
    ) -> Result<Decision<i64>, Rejection> {
        let Forgive {
            product,
            amount: requested,
            key,
            meta,
        } = command;
        if let Some(RecordContent::Forgiven(former, entry)) = prior.map(|prior| &prior.fact) {
            return if entry.product == product && *former == requested {
                Ok(Decision::Replay(entry.delta))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        let owed = self.owed(product);
        let most = requested.map_or(owed, Amount::get);
        Ok(match Amount::new(owed.min(most)) {
            None => Decision::Replay(0),
            Some(amount) => Decision::Accept(Change::Forgiven {
                product,
                requested,
                amount,
                key,
                meta,
            }),
        })
    }
}
