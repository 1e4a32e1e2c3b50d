//! Freezes and unfreezes wallets.

use domain::wallet::freeze::SetFrozen;

use super::{Command, Turn, read::view};
use crate::answer::{Error, WalletView};

impl Command for SetFrozen {
    type Answer = WalletView;

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletView, Error> {
        if let Some(change) = turn.wallet()?.set_frozen(self) {
            turn.change(change)?;
        }
        Ok(view(turn.wallet()?, turn.now()))
    }
}
