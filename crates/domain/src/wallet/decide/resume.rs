//! Resumes a subscription at the caller's request, so that it neither ends with its period nor is paused.

use super::instruction::{InstructionDecision, replay};
use crate::{
    Rejection,
    text::{IdempotencyKey, SubscriptionId},
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        instruction::{Instruction, InstructionRecord, InstructionStage, NamedSubscription},
    },
};

/// A request to resume a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// Which subscription of the wallet.
    pub named: NamedSubscription,
    /// The idempotency key: the operation is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a resumption. `prior` is the record of this key's former use for one.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::SubscriptionNotFound`] or [`Rejection::SubscriptionAmbiguous`].
    pub fn resume(
        &self,
        command: Resume,
        prior: Option<&InstructionRecord>,
        now: Timestamp,
    ) -> Result<InstructionDecision, Rejection> {
        let Resume { named, key } = command;
        let same = |former: &Instruction| matches!(former, Instruction::Resume { named: former, .. } if *former == named);
        let make = |subscription| Instruction::Resume {
            subscription,
            named,
        };
        self.instruct(named, key, prior, (same, make), now)
    }

    pub(super) fn instruct(
        &self,
        named: NamedSubscription,
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
        let subscription = self.named_subscription(named)?;
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
