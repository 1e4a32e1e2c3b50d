//! Puts a wallet's credits out of reach, and back.

use api_types::FrozenWallet;
use axum::Json;
use edge::body::Body;
use operator::SetWalletFrozen;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{Error, field::NoteText, view::frozen_wallet};

use super::call::AdminCall;
use crate::http::freeze::command;

/// Whether a wallet is to be frozen.
#[derive(Deserialize, ToSchema)]
pub(super) struct FreezeWallet {
    /// True freezes the wallet, false lets it be used again.
    frozen: bool,
    /// Why. Refusals of the wallet show it.
    reason: Option<NoteText>,
}

pub(super) async fn freeze(
    call: AdminCall<SetWalletFrozen>,
    body: Body,
) -> Result<Json<FrozenWallet>, Error> {
    let FreezeWallet { frozen, reason } = body.parse()?;
    let command = command(frozen, reason)?;
    let project = call.project()?;
    let wallet = call.path.wallet(&call.app, &project)?;
    let action = SetWalletFrozen { wallet, command };
    let view = call.run(project, action).await?;
    Ok(Json(frozen_wallet(&view)))
}
