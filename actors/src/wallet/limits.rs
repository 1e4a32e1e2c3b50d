//! Sets and reads wallets' limits.

use domain::{
    limit::{LimitDetail, LimitState},
    text::Member,
    wallet::{UseRules, limits::SetLimits},
};

use super::{Command, Turn};
use crate::answer::Error;

impl Command for SetLimits {
    type Answer = Vec<LimitState>;

    fn creates_user_wallet(&self) -> bool {
        !self.0.is_empty()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<Vec<LimitState>, Error> {
        let UseRules { limits, .. } = turn.use_rules();
        let now = turn.now();
        if let Some(change) = turn.wallet()?.set_limits(self, limits, now) {
            turn.change(change)?;
        }
        Ok(turn.wallet()?.limit_states(limits, None, now))
    }
}

/// Reads the limits in force: all of them, or those of a member.
pub(crate) struct ReadLimits(pub(crate) Option<Member>);

impl Command for ReadLimits {
    type Answer = Vec<LimitState>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Vec<LimitState>, Error> {
        let UseRules { limits, .. } = turn.use_rules();
        let (wallet, now) = (turn.wallet()?, turn.now());
        Ok(wallet.limit_states(limits, self.0.as_ref(), now))
    }
}

/// Reads the limits in force as an operator sees them.
pub(crate) struct InspectLimits {
    /// Part of the names whose counters to read; empty for all.
    pub(crate) named: String,
    /// The most counters of a pattern.
    pub(crate) limit: usize,
}

impl Command for InspectLimits {
    type Answer = Vec<LimitDetail>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Vec<LimitDetail>, Error> {
        let UseRules { limits, .. } = turn.use_rules();
        let (wallet, now) = (turn.wallet()?, turn.now());
        Ok(wallet.limit_details(limits, &self.named, self.limit, now))
    }
}
