//! Deductions of credits.

use domain::{
    history::RecordKey,
    wallet::{Decision, deduct::Deduct},
};

use super::{Command, Turn};
use crate::answer::{CommandResult, Error};

impl Command for Deduct {
    type Answer = CommandResult;

    fn run(self, turn: &mut Turn<'_>) -> Result<CommandResult, Error> {
        let product_ref = self.product;
        let prior = turn.prior(RecordKey::Deduct(self.key.as_str()))?;
        let (product, applied) = match turn.wallet()?.deduct(self, prior.as_ref())? {
            Decision::Replay(product) => (product, false),
            Decision::Accept(change) => {
                turn.change(change)?;
                (product_ref.resolve()?, true)
            }
        };
        Ok(CommandResult {
            balance: turn.wallet()?.available(product),
            applied,
            replayed: !applied,
        })
    }
}
