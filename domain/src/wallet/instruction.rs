//! Instructions: what a caller has the provider do (refund an order, cancel or resume a subscription). The request
//! is logged under the caller's key before the provider is asked, and the outcome afterwards: so a retry after a
//! crash finds what was begun, and nothing is done twice. A refusal by the provider does not use up the key.
//!
//! What an instruction does to credits and subscriptions is not decided here: that follows from the state of the
//! payment or the subscription afterwards.

use super::{Archive, Change, Event, Wallet, decision::DecisionBuilder};
use crate::{
    Rejection,
    history::RecordKey,
    id::{OrderSerial, ProductId},
    text::{IdempotencyKey, SubscriptionId},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

/// What the provider is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instruction {
    /// Refund an order, in full or in part.
    Refund {
        /// The order to refund.
        order: OrderSerial,
        /// What the caller named, in the currency's minor unit; `None`: all that was left.
        requested: Option<i64>,
        /// The amount to refund, in the same unit.
        cents: i64,
    },
    /// End a subscription.
    Cancel {
        /// The subscription to end.
        subscription: SubscriptionId,
        /// The product that the caller named it by.
        product: ProductId,
        /// Whether it ends with its period rather than at once.
        at_period_end: bool,
    },
    /// Undo that a subscription ends with its period, or that it is paused.
    Resume {
        /// The subscription to resume.
        subscription: SubscriptionId,
        /// The product that the caller named it by.
        product: ProductId,
    },
}

impl Instruction {
    /// The subscription that it is about, unless it is a refund.
    #[must_use]
    pub const fn subscription(&self) -> Option<&SubscriptionId> {
        match self {
            Self::Refund { .. } => None,
            Self::Cancel { subscription, .. } | Self::Resume { subscription, .. } => {
                Some(subscription)
            }
        }
    }
}

/// The stage of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InstructionStage {
    /// It was requested; whether it was done is not known.
    Asked,
    /// The provider did it.
    Done,
    /// The provider refused, and nothing was done.
    Refused,
}

/// An instruction under its caller's key, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionRecord {
    /// The caller's key, unique in the wallet among instructions of one kind.
    pub key: IdempotencyKey,
    /// What is to be done.
    pub instruction: Instruction,
    /// The stage at that moment.
    pub stage: InstructionStage,
}

/// The decision on an instruction that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionDecision {
    /// The instruction: if it is done already, the provider is not asked again.
    pub record: InstructionRecord,
    /// Events to log before the provider is asked; none if it was asked before.
    pub events: Vec<Event>,
}

impl InstructionRecord {
    /// Whether the provider did it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.stage == InstructionStage::Done
    }

    /// The look-up that finds its record.
    #[must_use]
    pub fn lookup(&self) -> RecordKey<'_> {
        let key = self.key.as_str();
        match self.instruction {
            Instruction::Refund { .. } => RecordKey::Refund(key),
            Instruction::Cancel { .. } => RecordKey::Cancel(key),
            Instruction::Resume { .. } => RecordKey::Resume(key),
        }
    }
}

/// The decision that follows from a key's former use; `None`: the key is free.
pub(super) fn again(
    prior: Option<&InstructionRecord>,
    same: impl FnOnce(&Instruction) -> bool,
) -> Result<Option<InstructionDecision>, Rejection> {
    let Some(prior) = prior.filter(|prior| prior.stage != InstructionStage::Refused) else {
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
        if prior.stage != InstructionStage::Asked || stage == InstructionStage::Asked {
            return Vec::new();
        }
        // Only a refusal changes the order.
        let order = match prior.instruction {
            Instruction::Refund { order, .. } => Some(order),
            Instruction::Cancel { .. } | Instruction::Resume { .. } => None,
        };
        let order = order.filter(|_| stage == InstructionStage::Refused);
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

    /// The events that move an instruction to another stage and change the order that it counts at.
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
