//! Instructions to the provider: refund an order, cancel or resume a subscription. The request is logged under the
//! caller's key before the provider is asked, and the outcome afterwards. So a retry after a crash finds what was
//! begun, and nothing is done twice. A refusal by the provider does not use up the key.
//!
//! An instruction's effect on credits and subscriptions is not decided here: it follows from the state of the payment
//! or subscription afterwards.

use super::decision::DecisionBuilder;
use crate::{
    Rejection,
    id::OrderSerial,
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event},
        instruction::{Instruction, InstructionRecord, InstructionStage},
    },
};

/// The decision on an instruction that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionDecision {
    /// The instruction. If it is done, the provider is not asked again.
    pub record: InstructionRecord,
    /// Events to log before the provider is asked; none if it was asked before.
    pub events: Vec<Event>,
}

/// The decision that follows from a key's former use; `None` if the key is unused.
pub(super) fn replay(
    prior: Option<&InstructionRecord>,
    same: impl FnOnce(&Instruction) -> bool,
) -> Result<Option<InstructionDecision>, Rejection> {
    let refused = |stage| matches!(stage, InstructionStage::Refused { .. });
    let Some(prior) = prior.filter(|prior| !refused(prior.stage)) else {
        return Ok(None);
    };
    if !same(&prior.instruction) {
        return Err(Rejection::KeyReused);
    }
    Ok(Some(InstructionDecision {
        record: prior.clone(),
        events: Vec::new(),
    }))
}

impl Wallet {
    /// Decides what the provider's answer to `prior` changes. An instruction that is closed already stays as it is.
    #[must_use]
    pub fn close_instruction(
        &self,
        prior: &InstructionRecord,
        stage: InstructionStage,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        if prior.stage != InstructionStage::Requested || stage == InstructionStage::Requested {
            return Vec::new();
        }
        // Only a refusal changes the order.
        let order = match prior.instruction {
            Instruction::Refund { order, .. } => Some(order),
            Instruction::Cancel { .. } | Instruction::Resume { .. } => None,
        };
        let order = order.filter(|_| matches!(stage, InstructionStage::Refused { .. }));
        self.instructed(
            InstructionRecord {
                stage,
                ..prior.clone()
            },
            order,
            archived,
            now,
        )
    }

    /// The events that move an instruction to another stage and change its order.
    pub(super) fn instructed(
        &self,
        instructed: InstructionRecord,
        order: Option<OrderSerial>,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let mut decision = DecisionBuilder::on(self, order, None, archived, now);
        decision.push(Change::Instructed(Box::new(instructed)));
        decision.finish()
    }
}
