//! Letting a subscription go on, on the caller's word: that it was asked for is logged here, before the
//! provider is asked.

use domain::{
    history::{Lookup, Record},
    wallet::resume::Resume,
};

use super::{
    Turn, Verb,
    cancel::{Instructable, decided_on},
};
use crate::answer::Error;

/// A resumption to be decided, and with `logs` to be logged where the provider is to be asked.
pub(crate) struct AskResume {
    pub(crate) resume: Resume,
    pub(crate) logs: bool,
}

impl Verb for AskResume {
    type Answer = Instructable;

    fn run(self, turn: &mut Turn<'_>) -> Result<Instructable, Error> {
        let prior = turn.prior(Lookup::Resume(self.resume.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let decided = turn.wallet()?.resume(self.resume, prior, turn.now())?;
        decided_on(turn, decided, self.logs)
    }
}
