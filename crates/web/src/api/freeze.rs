//! `POST /wallets/freeze`: puts a wallet's credits out of reach, and back.

use actors::Address;
use api_types::FrozenWallet;
use axum::{extract::State, response::Response};
use edge::{SecretKey, body::Body};
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
    http::{
        freeze::command,
        subject::{NamedWallet, WalletChoice},
    },
};

/// Whether a wallet is to be frozen. It is named by exactly one of `externalUserId`, `code` and `walletId`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FreezeWallet {
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

/// The schema of the request: one of three fields names the wallet.
type FreezeWalletSchema = WalletChoice<FreezeWallet, true, true>;

/// Freeze a wallet
///
/// What would take its credits is refused (`wallet_frozen`), and so is its checkout: deductions, holds, draws, and to
/// settle a hold for more than it set aside. Reads, grants, refunds and reversals go on, and so does what was promised
/// before: open holds are settled for what they set aside or released, payments under way and renewals of
/// subscriptions are fulfilled. Its code is replaced for a secret key only. Repeating a request changes nothing; another
/// reason replaces the former.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/freeze",
    tag = "Wallets of both kinds",
    request_body = FreezeWalletSchema,
    responses((status = 200, description = "The wallet as it is now", body = FrozenWallet)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["conflicting_wallet", "wallet_not_found"])))
)]
pub(super) async fn freeze_wallet(
    State(app): State<App>,
    key: SecretKey,
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
