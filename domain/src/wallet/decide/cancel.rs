//! Canceling a subscription at the caller's request, at once or with its period.

use super::instruction::InstructionDecision;
use crate::{
    Rejection,
    id::ProductId,
    text::IdempotencyKey,
    time::Timestamp,
    wallet::state::{
        Wallet,
        instruction::{Instruction, InstructionRecord},
    },
};

/// A request to cancel the subscription to a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// The product that is subscribed to.
    pub product: ProductId,
    /// Whether it ends with its period rather than at once.
    pub at_period_end: bool,
    /// The idempotency key: the operation is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a cancellation. `prior` is the record of this key's former use for one.
    ///
    /// # Errors
    ///
    /// [`Rejection::KeyReused`] or [`Rejection::SubscriptionNotFound`].
    pub fn cancel(
        &self,
        command: Cancel,
        prior: Option<&InstructionRecord>,
        now: Timestamp,
    ) -> Result<InstructionDecision, Rejection> {
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
