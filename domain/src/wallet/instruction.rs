//! What a caller has the provider do: give money back, end a subscription, let it go on. That it was asked
//! for is logged before the provider is asked, under the caller's key, and what came of it afterwards: so
//! whoever asks again after a crash meets what was begun, and nothing is done twice. A refusal of the
//! provider uses up no key.
//!
//! What it does to credits and subscriptions is not decided here: that follows from how the payment or the
//! subscription stands afterwards.

use super::{Archived, Change, Event, Wallet, draft::Draft};
use crate::{
    Rejection,
    history::Lookup,
    id::{OrderSerial, ProductId},
    text::{IdempotencyKey, SubscriptionId},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

/// What the provider is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instruction {
    /// Give money of an order back.
    Refund {
        /// Which.
        order: OrderSerial,
        /// What the caller named, in the currency's minor unit; `None`: all that was left.
        requested: Option<i64>,
        /// What that came to, likewise.
        cents: i64,
    },
    /// End a subscription.
    Cancel {
        /// Which.
        subscription: SubscriptionId,
        /// The product that the caller named it by.
        product: ProductId,
        /// Whether with its period rather than at once.
        at_period_end: bool,
    },
    /// Take back that a subscription ends with its period, or that it is paused.
    Resume {
        /// Which.
        subscription: SubscriptionId,
        /// The product that the caller named it by.
        product: ProductId,
    },
}

/// How far an instruction came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InstructionStage {
    /// It is to be done; whether it was is not known.
    Asked,
    /// The provider did it.
    Done,
    /// The provider said no: nothing was done.
    Refused,
}

/// An instruction under its caller's key, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instructed {
    /// Names it within the wallet, among those of its kind.
    pub key: IdempotencyKey,
    /// What is to be done.
    pub instruction: Instruction,
    /// How far that came.
    pub stage: InstructionStage,
}

/// What a wallet makes of an instruction that it does not refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructing {
    /// What the provider is to do.
    pub instruction: Instruction,
    /// Whether it did it already: it is not to be asked again.
    pub done: bool,
    /// What is to be logged before it is asked; nothing where it was asked before.
    pub events: Vec<Event>,
}

impl Instructed {
    /// What its record is found by.
    #[must_use]
    pub fn lookup(&self) -> Lookup<'_> {
        let key = self.key.as_str();
        match self.instruction {
            Instruction::Refund { .. } => Lookup::Refund(key),
            Instruction::Cancel { .. } => Lookup::Cancel(key),
            Instruction::Resume { .. } => Lookup::Resume(key),
        }
    }
}

/// What the former use of a key means for the same instruction; `None`: the key is free.
pub(super) fn again(
    prior: Option<&Instructed>,
    same: impl FnOnce(&Instruction) -> bool,
) -> Result<Option<Instructing>, Rejection> {
    let Some(prior) = prior.filter(|prior| prior.stage != InstructionStage::Refused) else {
        return Ok(None);
    };
    if !same(&prior.instruction) {
        return Err(Rejection::KeyReused);
    }
    Ok(Some(Instructing {
        instruction: prior.instruction.clone(),
        done: prior.stage == InstructionStage::Done,
        events: Vec::new(),
    }))
}

impl Wallet {
    /// Decides what the provider's answer changes: `prior` is what it was asked. What is closed already
    /// stays as it is.
    #[must_use]
    pub fn close_instruction(
        &self,
        prior: &Instructed,
        stage: InstructionStage,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        if prior.stage != InstructionStage::Asked || stage == InstructionStage::Asked {
            return Vec::new();
        }
        // Only what is refused changes its order.
        let order = match prior.instruction {
            Instruction::Refund { order, .. } => Some(order),
            Instruction::Cancel { .. } | Instruction::Resume { .. } => None,
        };
        let order = order.filter(|_| stage == InstructionStage::Refused);
        self.instructed(
            Instructed {
                stage,
                ..prior.clone()
            },
            order,
            archived,
            now,
        )
    }

    /// The events of an instruction that moves on, and of the order that it is counted at.
    pub(super) fn instructed(
        &self,
        instructed: Instructed,
        order: Option<OrderSerial>,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let mut draft = Draft::on(self, order, None, archived, now);
        draft.push(Change::Instructed(Box::new(instructed)));
        draft.finish()
    }
}
