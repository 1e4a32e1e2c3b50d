//! What came of something that the provider was asked to do on the caller's word.

use domain::{
    history::{Lookup, Record},
    text::IdempotencyKey,
    wallet::{Archived, Event, Instructed, Instruction, InstructionStage},
};

use super::{Turn, Verb};
use crate::answer::Error;

/// A kind of instruction: keys are unique within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// Money back.
    Refund,
    /// A subscription's end.
    Cancel,
    /// A subscription's going on.
    Resume,
}

impl InstructionKind {
    /// Its name, for the names of operations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::Cancel => "cancel",
            Self::Resume => "resume",
        }
    }

    const fn lookup(self, key: &str) -> Lookup<'_> {
        match self {
            Self::Refund => Lookup::Refund(key),
            Self::Cancel => Lookup::Cancel(key),
            Self::Resume => Lookup::Resume(key),
        }
    }
}

/// The provider's answer to what was asked under a key.
pub(crate) struct CloseInstruction {
    pub(crate) kind: InstructionKind,
    pub(crate) key: IdempotencyKey,
    pub(crate) stage: InstructionStage,
}

impl Verb for CloseInstruction {
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
        let archived = Archived {
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

const fn order_of(instructed: &Instructed) -> Option<Lookup<'static>> {
    match instructed.instruction {
        Instruction::Refund { order, .. } => Some(Lookup::Order(order)),
        Instruction::Cancel { .. } | Instruction::Resume { .. } => None,
    }
}

/// Logs what was decided; all of it together.
pub(super) fn instructed(turn: &mut Turn<'_>, events: Vec<Event>) -> Result<(), Error> {
    match events.is_empty() {
        true => Ok(()),
        false => turn.together(events),
    }
}
