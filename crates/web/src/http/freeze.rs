//! Freezing a wallet: the command out of a request, and its answer. The administration names the wallet in the path.

use domain::{
    text::FreezeReason,
    wallet::{Freeze, freeze::SetFrozen},
};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{NoteText, line},
    view::Instant,
};

/// Whether a wallet is frozen now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrozenWallet {
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// Whether it is frozen.
    frozen: bool,
    /// Why it is frozen, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen_reason: Option<String>,
    /// Since when it is frozen.
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen_at: Option<Instant>,
}

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

impl FrozenWallet {
    /// What the wallet answered.
    pub(crate) fn of(view: &actors::WalletView) -> Self {
        let freeze = view.frozen.as_ref();
        let reason = |freeze: &Freeze| Some(freeze.reason.as_ref()?.as_str().to_owned());
        Self {
            wallet_id: view.id.to_string(),
            frozen: freeze.is_some(),
            frozen_reason: freeze.and_then(reason),
            frozen_at: freeze.map(|freeze| Instant(freeze.since)),
        }
    }
}
