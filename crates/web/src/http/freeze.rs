//! Freezing a wallet: the command out of a request.

use domain::{text::FreezeReason, wallet::freeze::SetFrozen};
use wire::{
    Error,
    field::{NoteText, line},
};

/// The command for the wallet; a reason to unfreeze it is ignored.
pub(crate) fn command(frozen: bool, reason: Option<NoteText>) -> Result<SetFrozen, Error> {
    let reason = reason.map(|note| FreezeReason::new(line(note)));
    let reason = reason.transpose();
    let reason = reason.map_err(|error| Error::text("reason", error))?;
    Ok(match frozen {
        true => SetFrozen::Freeze(reason),
        false => SetFrozen::Unfreeze,
    })
}
