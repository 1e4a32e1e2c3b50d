//! Codes that are replaced, and with them what whoever knew the old one has set aside.

use domain::{
    id::CodeHash,
    wallet::{Change, Owner},
};

use super::{Caught, Turn, Verb};
use crate::answer::Error;

/// A freshly drawn code, ready to be stored.
pub(crate) struct NewCode {
    pub(crate) hash: CodeHash,
    pub(crate) sealed: Box<[u8]>,
}

/// Replaces a leaked code by this one.
pub(crate) struct Rotate(pub(crate) NewCode);

/// Whether the code that the caller names opens the wallet.
pub(crate) struct InForce;

impl Verb for InForce {
    type Answer = ();

    fn run(self, _turn: &mut Turn<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl Verb for Rotate {
    type Answer = ();

    /// Releases the holds that publishable keys placed: in a finder's hands they would keep credits
    /// from the owner for a day. Where the process dies in between, the old code is still in force
    /// and the call is made again.
    fn clear(&self, turn: &mut Turn<'_>) -> Result<Caught, Error> {
        turn.release_holds_of_the_code()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let NewCode { hash, sealed } = self.0;
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
