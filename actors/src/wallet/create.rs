//! The creation of anonymous wallets.

use domain::Rejection;

use super::{Command, Turn, read::view};
use crate::answer::{Error, WalletView};

/// Creates an anonymous wallet. If another has the same code hash, it is rejected and another code is made.
pub(crate) struct CreateCode;

impl Command for CreateCode {
    type Answer = WalletView;

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletView, Error> {
        let wallet = turn.wallet()?;
        if turn.created().is_none_or(|created| wallet.id != created.id) {
            return Err(Rejection::WalletNotFound.into());
        }
        Ok(view(wallet, turn.now()))
    }
}
