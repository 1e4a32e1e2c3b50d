//! Manual grants of credits.

use domain::{
    history::RecordKey,
    wallet::{Decision, credit::Credit},
};

use super::{Command, Turn};
use crate::answer::{CommandResult, Error};

impl Command for Credit {
    type Answer = CommandResult;

    fn creates_user_wallet(&self) -> bool {
        true
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<CommandResult, Error> {
        let prior = turn.prior(RecordKey::Grant(self.key.as_str()))?;
        let product = self.product;
        let now = turn.now();
        let applied = match turn.wallet()?.credit(self, prior.as_ref(), now)? {
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
            rated: None,
            late: false,
        })
    }
}
