//! Resuming a subscription at the caller's request: it neither ends with its period nor is paused.

use super::instruction::{InstructionDecision, replay};
use crate::{
    Rejection,
    id::ProductId,
    text::{IdempotencyKey, SubscriptionId},
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        instruction::{Instruction, InstructionRecord, InstructionStage},
    },
};

/// A request to resume the subscription to a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The product that is subscribed to.
    pub product: ProductId,
    /// The idempotency key: the operation is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a resumption. `prior` is the record of this key's former use for one.
    ///
    /// # Errors
    ///
    /// [`Rejection::KeyReused`] or [`Rejection::SubscriptionNotFound`].
    pub fn resume(
        &self,
        command: Resume,
        prior: Option<&InstructionRecord>,
        now: Timestamp,
    ) -> Result<InstructionDecision, Rejection> {
        let Resume { product, key } = command;
        let same = |former: &Instruction| matches!(former, Instruction::Resume { product: of, .. } if *of == product);
        let make = |subscription| Instruction::Resume {
            subscription,
            product,
        };
        self.instruct(product, key, prior, (same, make), now)
    }

    /// Decides an instruction about the subscription to a product; of several, which only a race can make, about
    /// the one that started last.
    pub(super) fn instruct(
        &self,
        product: ProductId,
        key: IdempotencyKey,
        prior: Option<&InstructionRecord>,
        (same, make): (
            impl FnOnce(&Instruction) -> bool,
            impl FnOnce(SubscriptionId) -> Instruction,
        ),
        now: Timestamp,
    ) -> Result<InstructionDecision, Rejection> {
        if let Some(decision) = replay(prior, same)? {
            return Ok(decision);
        }
        let subscription = self
            .subscriptions()
            .filter(|subscription| subscription.tier().product == product)
            .last()
            .ok_or(Rejection::SubscriptionNotFound)?;
        let record = InstructionRecord {
            key,
            instruction: make(subscription.id.clone()),
            stage: InstructionStage::Requested,
        };
        Ok(InstructionDecision {
            events: self.instructed(record.clone(), None, Archive::default(), now),
            record,
        })
    }
}
