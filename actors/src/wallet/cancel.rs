//! Decides about a subscription's cancellation at a caller's request, which is logged before the provider is asked.

use domain::{
    history::{Record, RecordKey},
    text::SubscriptionId,
    wallet::{Instruction, InstructionDecision, cancel::Cancel},
};

use super::{Command, Turn, instruction::instructed};
use crate::answer::Error;

/// The subscription that the provider is to cancel or resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionToInstruct {
    /// The provider's id of the subscription.
    pub subscription: SubscriptionId,
    /// Whether the provider has done it already and must not be asked again.
    pub done: bool,
}

/// Decides about a cancellation; with `logs`, the request is logged.
pub(crate) struct AskCancel {
    pub(crate) cancel: Cancel,
    pub(crate) logs: bool,
}

impl Command for AskCancel {
    type Answer = SubscriptionToInstruct;

    fn run(self, turn: &mut Turn<'_>) -> Result<SubscriptionToInstruct, Error> {
        let prior = turn.prior(RecordKey::Cancel(self.cancel.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let decided = turn.wallet()?.cancel(self.cancel, prior, turn.now())?;
        log_decision(turn, decided, self.logs)
    }
}

/// Logs a decision about a subscription, if `logs` says so.
pub(super) fn log_decision(
    turn: &mut Turn<'_>,
    decided: InstructionDecision,
    logs: bool,
) -> Result<SubscriptionToInstruct, Error> {
    let InstructionDecision {
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
    Ok(SubscriptionToInstruct { subscription, done })
}
