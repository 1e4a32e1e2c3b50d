//! Reads the code of an anonymous wallet, for its buyer.

use domain::wallet::Owner;

use super::{Command, Turn};
use crate::answer::Error;

pub(crate) struct FindCode;

impl Command for FindCode {
    /// The encrypted code, and how often it was replaced; `None` if no code opens the wallet.
    type Answer = Option<(Box<[u8]>, u32)>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error> {
        let wallet = turn.wallet()?;
        Ok(match &wallet.owner {
            Owner::Code { sealed, .. } => Some((sealed.clone(), wallet.rotations)),
            Owner::External(_) | Owner::Order => None,
        })
    }
}
