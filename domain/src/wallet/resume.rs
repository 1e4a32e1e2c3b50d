//! Letting a subscription go on, on the caller's word: it neither ends with its period nor is paused.

use super::{
    Archived, Wallet,
    instruction::{Instructed, Instructing, Instruction, InstructionStage, again},
};
use crate::{
    Rejection,
    id::ProductId,
    text::{IdempotencyKey, SubscriptionId},
    time::Timestamp,
};

/// A request to let the subscription to a product go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// To which product.
    pub product: ProductId,
    /// Names the operation: it is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a resumption. `prior` is the record of this key's former use for one.
    ///
    /// # Errors
    ///
    /// [`Rejection::KeyReused`], [`Rejection::SubscriptionNotFound`].
    pub fn resume(
        &self,
        command: Resume,
        prior: Option<&Instructed>,
        now: Timestamp,
    ) -> Result<Instructing, Rejection> {
        let Resume { product, key } = command;
        let same = |former: &Instruction| matches!(former, Instruction::Resume { product: of, .. } if *of == product);
        let make = |subscription| Instruction::Resume {
            subscription,
            product,
        };
        self.instruct(product, key, prior, (same, make), now)
    }

    /// Decides an instruction about the subscription to a product; of several, which only a race makes,
    /// the one that started last.
    pub(super) fn instruct(
        &self,
        product: ProductId,
        key: IdempotencyKey,
        prior: Option<&Instructed>,
        (same, make): (
            impl FnOnce(&Instruction) -> bool,
            impl FnOnce(SubscriptionId) -> Instruction,
        ),
        now: Timestamp,
    ) -> Result<Instructing, Rejection> {
        if let Some(again) = again(prior, same)? {
            return Ok(again);
        }
        let known = self.subscriptions().filter(|s| s.tier().product == product);
        let known = known.last().ok_or(Rejection::SubscriptionNotFound)?;
        let instruction = make(known.id.clone());
        let instructed = Instructed {
            key,
            instruction: instruction.clone(),
            stage: InstructionStage::Asked,
        };
        Ok(Instructing {
            instruction,
            done: false,
            events: self.instructed(instructed, None, Archived::default(), now),
        })
    }
}
