//! `POST /wallets/freeze`: puts a wallet's credits out of reach, and back.

use actors::Address;
use axum::{extract::State, response::Response};
use edge::{
    body::Body,
    caller::{MayLimits, SecretKey},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{CodeText, NoteText, Text, UserText, WalletName},
    respond,
    view::frozen_wallet,
};

use crate::{
    api::App,
    http::{freeze::command, subject::NamedWallet},
};

/// Whether a wallet is to be frozen. It is named by exactly one of `externalUserId`, `code` and `walletId`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FreezeWallet {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    #[schema(ignore)]
    wallet_id: Option<WalletName>,
    /// True freezes the wallet, false lets it be used again.
    frozen: bool,
    /// Why. Refusals of the wallet show it.
    reason: Option<NoteText>,
}

pub(super) async fn freeze_wallet(
    State(app): State<App>,
    key: SecretKey<MayLimits>,
    body: Body,
) -> Result<Response, Error> {
    let request: FreezeWallet = body.parse()?;
    let named = NamedWallet::of(request.external_user_id, request.code)?;
    let command = command(request.frozen, request.reason)?;
    let refused = |error| Error::from_wallet(error, &key);
    let address = match (named, request.wallet_id) {
        (Some(named), None) => named.into_address()?,
        (None, Some(Text(id))) => {
            let id = id.0.ok_or_else(|| Error::new(ErrorCode::WalletNotFound))?;
            Address::Stored(app.handle.key_of(id).map_err(refused)?)
        }
        (None, None) | (Some(_), Some(_)) => {
            return Err(Error::new(ErrorCode::ConflictingWallet)
                .saying("Name the wallet by one of externalUserId, code and walletId."));
        }
    };
    let view = app.handle.set_frozen(&key.scope, &address, command).await;
    respond::json(&frozen_wallet(&view.map_err(refused)?))
}
