//! Granting credits by hand.

use domain::{
    history::Lookup,
    wallet::{Created, Decision, credit::Credit},
};

use super::{Turn, Verb};
use crate::answer::{Applied, Error};

/// Grants credits, also to a user whose wallet they make.
pub(crate) struct Grant {
    pub(crate) command: Credit,
    pub(crate) created: Option<Created>,
}

impl Verb for Grant {
    type Answer = Applied;

    fn creates(&self) -> Option<&Created> {
        self.created.as_ref()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<Applied, Error> {
        let command = self.command;
        let prior = turn.prior(Lookup::Grant(command.key.as_str()))?;
        let product = command.product;
        let now = turn.now();
        let applied = match turn.wallet()?.credit(command, prior.as_ref(), now)? {
            Decision::Replay(_) => false,
            Decision::Accept(change) => {
                turn.change(change)?;
                true
            }
        };
        Ok(Applied {
            balance: turn.wallet()?.available(product),
            applied,
            replayed: !applied,
        })
    }
}
