//! Ending a subscription on the caller's word, at once or with its period.

use super::{
    Wallet,
    instruction::{Instructed, Instructing, Instruction},
};
use crate::{Rejection, id::ProductId, text::IdempotencyKey, time::Timestamp};

/// A request to end the subscription to a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// To which product.
    pub product: ProductId,
    /// Whether with its period rather than at once.
    pub at_period_end: bool,
    /// Names the operation: it is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a cancellation. `prior` is the record of this key's former use for one.
    ///
    /// # Errors
    ///
    /// [`Rejection::KeyReused`], [`Rejection::SubscriptionNotFound`].
    pub fn cancel(
        &self,
        command: Cancel,
        prior: Option<&Instructed>,
        now: Timestamp,
    ) -> Result<Instructing, Rejection> {
        let Cancel {
            product,
            at_period_end,
            key,
        } = command;
        let same = |former: &Instruction| {
            matches!(former, Instruction::Cancel { product: of, at_period_end: so, .. }
                if *of == product && *so == at_period_end)
        };
        let make = |subscription| Instruction::Cancel {
            subscription,
            product,
            at_period_end,
        };
        self.instruct(product, key, prior, (same, make), now)
    }
}
