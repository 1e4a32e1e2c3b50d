//! Cancels a subscription at the caller's request, at once or with its period, or resumes it, so that it neither ends with
//! its period nor is paused.

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

/// What a caller wants of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionAction {
    /// End the subscription.
    Cancel {
        /// Whether it ends with its period rather than at once.
        at_period_end: bool,
    },
    /// Take back its cancellation or pause.
    Resume,
}

/// A request to cancel or resume a subscription, done once under its key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct SubscriptionInstruction {
    pub named: NamedSubscription,
    pub action: SubscriptionAction,
    pub key: IdempotencyKey,
}

impl SubscriptionInstruction {
    fn of(&self, subscription: SubscriptionId) -> Instruction {
        let named = self.named;
        match self.action {
            SubscriptionAction::Cancel { at_period_end } => Instruction::Cancel {
                subscription,
                named,
                at_period_end,
            },
            SubscriptionAction::Resume => Instruction::Resume {
                subscription,
                named,
            },
        }
    }
}

impl Wallet {
    /// Decides a cancellation or a resumption. `prior` is the record of this key's former use for one.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::SubscriptionNotFound`] or [`Rejection::SubscriptionAmbiguous`].
    pub fn instruct_subscription(
        &self,
        command: SubscriptionInstruction,
        prior: Option<&InstructionRecord>,
        now: Timestamp,
    ) -> Result<InstructionDecision, Rejection> {
        let same = |former: &Instruction| {
            let subscription = former.subscription().cloned();
            subscription.is_some_and(|subscription| command.of(subscription) == *former)
        };
        if let Some(decision) = replay(prior, same)? {
            return Ok(decision);
        }
        let subscription = self.named_subscription(command.named)?;
        let record = InstructionRecord {
            instruction: command.of(subscription.id.clone()),
            key: command.key,
            stage: InstructionStage::Requested,
        };
        Ok(InstructionDecision {
            events: self.instructed(record.clone(), None, Archive::default(), now),
            record,
        })
    }
}
