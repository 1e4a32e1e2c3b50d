//! Manual grants of credits.

use domain::{
    history::RecordKey,
    wallet::{Created, Decision, credit::Credit},
};

use super::{Command, Turn};
use crate::answer::{CommandResult, Error};

/// Grants credits; `created` creates a missing user's wallet.
pub(crate) struct Grant {
    pub(crate) command: Credit,
    pub(crate) created: Option<Created>,
}

impl Command for Grant {
    type Answer = CommandResult;

    fn creates(&self) -> Option<&Created> {
        self.created.as_ref()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<CommandResult, Error> {
        let command = self.command;
        let prior = turn.prior(RecordKey::Grant(command.key.as_str()))?;
        let product = command.product;
        let now = turn.now();
        let applied = match turn.wallet()?.credit(command, prior.as_ref(), now)? {
            Decision::Replay(_) => false,
            Decision::Accept(change) => {
                turn.change(change)?;
                true
            }
        };
        Ok(CommandResult {
            balance: turn.wallet()?.available(product),
            applied,
            replayed: !applied,
            coverage: None,
            late: false,
        })
    }
}
