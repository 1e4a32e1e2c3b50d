//! Sets wallets' own debt limits.

use domain::wallet::{
    Created,
    debt_limit::{DebtState, SetDebtLimit},
};

use super::{Command, Turn};
use crate::answer::Error;

/// Sets the limit; `created` creates a missing user's wallet.
pub(crate) struct LimitDebt {
    pub(crate) command: SetDebtLimit,
    pub(crate) created: Option<Created>,
}

impl Command for LimitDebt {
    type Answer = DebtState;

    fn creates(&self) -> Option<&Created> {
        self.created.as_ref()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<DebtState, Error> {
        let product = self.command.product;
        if let Some(change) = turn.wallet()?.set_debt_limit(self.command) {
            turn.change(change)?;
        }
        Ok(turn.wallet()?.debt_state(product, turn.debt_limits()))
    }
}
