//! Replaces recovery codes, and releases the holds that somebody with the old code may have placed.

use domain::wallet::{Change, Owner, pay::MintedCode};

use super::{CatchUp, Command, Turn};
use crate::answer::Error;

/// Replaces a leaked code by this one.
pub(crate) struct Rotate(pub(crate) MintedCode);

/// Checks that the caller's code opens the wallet, or that the caller's session lasts.
pub(crate) struct CheckCaller;

impl Command for CheckCaller {
    type Answer = ();

    fn run(self, _turn: &mut Turn<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl Command for Rotate {
    type Answer = ();

    /// Releases the holds that publishable keys placed: placed by a thief, they would keep credits
    /// from the owner for a day. If the process dies in between, the old code is still valid
    /// and the call can be repeated.
    fn clear(&self, turn: &mut Turn<'_>) -> Result<CatchUp, Error> {
        turn.release_publishable_holds()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let MintedCode { hash, sealed } = self.0;
        let former = match &turn.wallet()?.owner {
            Owner::Code { hash, .. } => Some(*hash),
            Owner::External(_) | Owner::Order => None,
        };
        turn.change(Change::CodeRotated {
            hash,
            sealed,
            former,
        })
    }
}
