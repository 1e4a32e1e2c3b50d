//! Ending a subscription on the caller's word: that it was asked for is logged here, before the provider
//! is asked.

use domain::{
    history::{Lookup, Record},
    text::SubscriptionId,
    wallet::{Instructing, Instruction, cancel::Cancel},
};

use super::{Turn, Verb, instruction::instructed};
use crate::answer::Error;

/// Which subscription the provider is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructable {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// Whether the provider did it already: it is not to be asked again.
    pub done: bool,
}

/// A cancellation to be decided, and with `logs` to be logged where the provider is to be asked.
pub(crate) struct AskCancel {
    pub(crate) cancel: Cancel,
    pub(crate) logs: bool,
}

impl Verb for AskCancel {
    type Answer = Instructable;

    fn run(self, turn: &mut Turn<'_>) -> Result<Instructable, Error> {
        let prior = turn.prior(Lookup::Cancel(self.cancel.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let decided = turn.wallet()?.cancel(self.cancel, prior, turn.now())?;
        decided_on(turn, decided, self.logs)
    }
}

/// Logs what was decided about a subscription.
pub(super) fn decided_on(
    turn: &mut Turn<'_>,
    decided: Instructing,
    logs: bool,
) -> Result<Instructable, Error> {
    let Instructing {
        instruction,
        done,
        events,
    } = decided;
    let subscription = match instruction {
        Instruction::Cancel { subscription, .. } | Instruction::Resume { subscription, .. } => {
            subscription
        }
        Instruction::Refund { .. } => return Err(Error::Unavailable),
    };
    if logs {
        instructed(turn, events)?;
    }
    Ok(Instructable { subscription, done })
}
