//! Wallets that come to be.

use domain::{Rejection, wallet::Created};

use super::{Turn, Verb, view::view};
use crate::answer::{Error, WalletView};

/// Makes a code wallet. Two codes that hash alike must not share one: the second is refused and drawn
/// again.
pub(crate) struct CreateCode(pub(crate) Created);

impl Verb for CreateCode {
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

/// Gets or makes a user's wallet.
pub(crate) struct Open(pub(crate) Created);

impl Verb for Open {
    type Answer = WalletView;

    fn creates(&self) -> Option<&Created> {
        Some(&self.0)
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletView, Error> {
        Ok(view(turn.wallet()?, turn.now()))
    }
}
