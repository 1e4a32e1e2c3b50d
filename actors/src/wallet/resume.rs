//! Decides about a subscription's resumption at a caller's request, which is logged before the provider is asked.

use domain::{
    history::{Record, RecordKey},
    wallet::{InstructionRecord, resume::Resume},
};

use super::{
    Command, Turn,
    instruction::{Instruct, log_decision},
};
use crate::answer::Error;

impl Command for Instruct<Resume> {
    type Answer = InstructionRecord;

    fn run(self, turn: &mut Turn<'_>) -> Result<InstructionRecord, Error> {
        let prior = turn.prior(RecordKey::Resume(self.command.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let decided = turn.wallet()?.resume(self.command, prior, turn.now())?;
        log_decision(turn, decided, self.logs)
    }
}
