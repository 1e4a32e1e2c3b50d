//! Sets wallets' own debt limits.

use domain::wallet::debt_limit::{DebtState, SetDebtLimit};

use super::{Command, Turn};
use crate::answer::Error;

impl Command for SetDebtLimit {
    type Answer = DebtState;

    fn creates_user_wallet(&self) -> bool {
        self.limit.is_some()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<DebtState, Error> {
        let product = self.product;
        if let Some(change) = turn.wallet()?.set_debt_limit(self) {
            turn.change(change)?;
        }
        Ok(turn.wallet()?.debt_state(product, turn.debt_limits()))
    }
}
