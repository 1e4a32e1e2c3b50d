//! The creation of anonymous and external wallets.

use domain::{Rejection, wallet::Created};

use super::{Command, Turn, read::view};
use crate::answer::{Error, WalletView};

/// Creates an anonymous wallet. If another has the same code hash, it is rejected and another code is made.
pub(crate) struct CreateCode(pub(crate) Created);

impl Command for CreateCode {
    type Answer = WalletView;

    fn creates(&self) -> Option<&Created> {
        Some(&self.0)
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletView, Error> {
        let wallet = turn.wallet()?;
        if wallet.id != self.0.id {
            return Err(Rejection::WalletNotFound.into());
        }
        Ok(view(wallet, turn.now()))
    }
}

pub(crate) struct Open(pub(crate) Created);

impl Command for Open {
    type Answer = WalletView;

    fn creates(&self) -> Option<&Created> {
        Some(&self.0)
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletView, Error> {
        Ok(view(turn.wallet()?, turn.now()))
    }
}
