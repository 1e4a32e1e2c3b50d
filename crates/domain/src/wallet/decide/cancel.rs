//! Cancels a subscription at the caller's request, at once or with its period.

use super::instruction::InstructionDecision;
use crate::{
    Rejection,
    text::IdempotencyKey,
    time::Timestamp,
    wallet::state::{
        Wallet,
        instruction::{Instruction, InstructionRecord, NamedSubscription},
    },
};

/// A request to cancel a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// Which subscription of the wallet.
    pub named: NamedSubscription,
    /// Whether it ends with its period rather than at once.
    pub at_period_end: bool,
    /// The idempotency key: the operation is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a cancellation. `prior` is the record of this key's former use for one.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::SubscriptionNotFound`] or [`Rejection::SubscriptionAmbiguous`].
    pub fn cancel(
        &self,
        command: Cancel,
        prior: Option<&InstructionRecord>,
        now: Timestamp,
    ) -> Result<InstructionDecision, Rejection> {
        let Cancel {
            named,
            at_period_end,
            key,
        } = command;
        let same = |former: &Instruction| {
            matches!(former, Instruction::Cancel { named: former, at_period_end: so, .. }
                if *former == named && *so == at_period_end)
        };
        let make = |subscription| Instruction::Cancel {
            subscription,
            named,
            at_period_end,
        };
        self.instruct(named, key, prior, (same, make), now)
    }
}
