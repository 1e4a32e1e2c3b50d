//! What refunds, cancellations and resumptions have in common. Each is decided and logged before the provider is asked,
//! and its outcome afterwards.

use domain::{
    history::{Record, RecordKey},
    wallet::{Archive, Event, Instruction, InstructionDecision, InstructionRecord},
};

use super::{Command, Turn};
use crate::answer::Error;

/// Decides about a refund, a cancellation or a resumption; with `logs`, the request is logged.
pub(crate) struct Instruct<C> {
    pub(crate) command: C,
    pub(crate) logs: bool,
}

/// Logs the outcome of an instruction: its record with its new stage.
pub(crate) struct CloseInstruction(pub(crate) InstructionRecord);

impl Command for CloseInstruction {
    type Answer = ();

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let prior = turn.prior(self.0.lookup())?;
        let Some(prior) = prior.as_ref().and_then(Record::instructed) else {
            return Ok(());
        };
        let record = match prior.instruction {
            Instruction::Refund { order, .. } => turn.prior(RecordKey::Order(order))?,
            Instruction::Cancel { .. } | Instruction::Resume { .. } => None,
        };
        let archived = Archive {
            order: record.as_ref().and_then(Record::order),
            subscription_over: false,
        };
        let now = turn.now();
        let events = turn
            .wallet()?
            .close_instruction(prior, self.0.stage, archived, now);
        log(turn, events)
    }
}

/// Logs a decision if `logs`, and answers the instruction.
pub(super) fn log_decision(
    turn: &mut Turn<'_>,
    decided: InstructionDecision,
    logs: bool,
) -> Result<InstructionRecord, Error> {
    let InstructionDecision { record, events } = decided;
    if logs {
        log(turn, events)?;
    }
    Ok(record)
}

/// Logs the events of a decision, if there are any, as one append.
fn log(turn: &mut Turn<'_>, events: Vec<Event>) -> Result<(), Error> {
    match events.is_empty() {
        true => Ok(()),
        false => turn.together(events),
    }
}
