//! Replaces recovery codes, and releases holds that somebody with the old code may have placed.

use domain::wallet::{Change, Owner, pay::MintedCode};

use super::{CatchUp, Command, Turn};
use crate::answer::Error;

pub(crate) struct Rotate {
    pub(crate) minted: MintedCode,
    /// Whether the caller may do so while the wallet is frozen: not with only the code.
    pub(crate) although_frozen: bool,
}

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

    /// Releases the holds that publishable keys placed, because a thief's holds would block the owner's credits for a
    /// day. After a crash in between, the old code is still valid and the call can be repeated.
    fn clear(&self, turn: &mut Turn<'_>) -> Result<CatchUp, Error> {
        if !self.although_frozen {
            turn.wallet()?.refuse_frozen()?;
        }
        turn.release_publishable_holds()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let MintedCode { hash, sealed } = self.minted;
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
