//! Decides about a subscription's cancellation at a caller's request, which is logged before the provider is asked.

use domain::{
    history::{Record, RecordKey},
    wallet::{InstructionRecord, cancel::Cancel},
};

use super::{
    Command, Turn,
    instruction::{Instruct, log_decision},
};
use crate::answer::Error;

impl Command for Instruct<Cancel> {
    type Answer = InstructionRecord;

    fn run(self, turn: &mut Turn<'_>) -> Result<InstructionRecord, Error> {
        let prior = turn.prior(RecordKey::Cancel(self.command.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let decided = turn.wallet()?.cancel(self.command, prior, turn.now())?;
        log_decision(turn, decided, self.logs)
    }
}
