//! Logs the outcome of an instruction: a refund, cancellation or resumption at a caller's request.

use domain::{
    history::{Record, RecordKey},
    text::IdempotencyKey,
    wallet::{Archive, Event, Instruction, InstructionRecord, InstructionStage},
};

use super::{Command, Turn};
use crate::answer::Error;

/// A kind of instruction: keys are unique within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// A refund of an order.
    Refund,
    /// A subscription's cancellation.
    Cancel,
    /// Takes back a subscription's cancellation or pause.
    Resume,
}

impl InstructionKind {
    /// The first part of the provider's operation names.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::Cancel => "cancel",
            Self::Resume => "resume",
        }
    }

    const fn lookup(self, key: &str) -> RecordKey<'_> {
        match self {
            Self::Refund => RecordKey::Refund(key),
            Self::Cancel => RecordKey::Cancel(key),
            Self::Resume => RecordKey::Resume(key),
        }
    }
}

/// The outcome of the instruction with a key.
pub(crate) struct CloseInstruction {
    pub(crate) kind: InstructionKind,
    pub(crate) key: IdempotencyKey,
    pub(crate) stage: InstructionStage,
}

impl Command for CloseInstruction {
    type Answer = ();

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let prior = turn.prior(self.kind.lookup(self.key.as_str()))?;
        let Some(prior) = prior.as_ref().and_then(Record::instructed) else {
            return Ok(());
        };
        let record = match order_of(prior) {
            Some(order) => turn.prior(order)?,
            None => None,
        };
        let archived = Archive {
            order: record.as_ref().and_then(Record::order),
            subscription_over: false,
        };
        let now = turn.now();
        let events = turn
            .wallet()?
            .close_instruction(prior, self.stage, archived, now);
        instructed(turn, events)
    }
}

const fn order_of(instructed: &InstructionRecord) -> Option<RecordKey<'static>> {
    match instructed.instruction {
        Instruction::Refund { order, .. } => Some(RecordKey::Order(order)),
        Instruction::Cancel { .. } | Instruction::Resume { .. } => None,
    }
}

/// Logs the events of a decision, if there are any, as one append.
pub(super) fn instructed(turn: &mut Turn<'_>, events: Vec<Event>) -> Result<(), Error> {
    match events.is_empty() {
        true => Ok(()),
        false => turn.together(events),
    }
}
