//! Forgives debts, in full or in part.

use domain::{
    history::RecordKey,
    wallet::{Change, Decision, forgive::Forgive},
};

use super::{Command, Turn};
use crate::answer::{Error, ForgiveAnswer};

impl Command for Forgive {
    type Answer = ForgiveAnswer;

    fn run(self, turn: &mut Turn<'_>) -> Result<ForgiveAnswer, Error> {
        let product = self.product;
        let prior = turn.prior(RecordKey::Forgive(self.key.as_str()))?;
        let (amount, applied) = match turn.wallet()?.forgive(self, prior.as_ref())? {
            Decision::Replay(amount) => (amount, false),
            Decision::Accept(change) => {
                let amount = match &change {
                    Change::Forgiven { amount, .. } => amount.get(),
                    _ => 0,
                };
                turn.change(change)?;
                (amount, true)
            }
        };
        Ok(ForgiveAnswer {
            debt: turn.wallet()?.debt_state(product, turn.debt_limits()),
            amount,
            applied,
            replayed: prior.is_some(),
        })
    }
}
