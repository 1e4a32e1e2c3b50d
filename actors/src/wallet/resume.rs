//! Decides about a subscription's resumption at a caller's request, which is logged before the provider is asked.

use domain::{
    history::{Record, RecordKey},
    wallet::resume::Resume,
};

use super::{
    Command, Turn,
    cancel::{SubscriptionToInstruct, log_decision},
};
use crate::answer::Error;

/// Decides about a resumption; with `logs`, the request is logged.
pub(crate) struct AskResume {
    pub(crate) resume: Resume,
    pub(crate) logs: bool,
}

impl Command for AskResume {
    type Answer = SubscriptionToInstruct;

    fn run(self, turn: &mut Turn<'_>) -> Result<SubscriptionToInstruct, Error> {
        let prior = turn.prior(RecordKey::Resume(self.resume.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let decided = turn.wallet()?.resume(self.resume, prior, turn.now())?;
        log_decision(turn, decided, self.logs)
    }
}
