//! `GET /wallets/{code}` and `GET /wallets/external`: what a wallet holds.

use actors::Address;
use axum::{extract::State, response::Response};
use edge::auth::{AnyKey, SecretKey};
use serde::Deserialize;
use wire::{
    Error,
    field::{CodeText, Text, UserText},
    respond,
    view::{CodeWallet, ExternalWallet, Holdings},
};

use crate::{
    api::App,
    http::{code_path::CodePath, query::Params},
};

/// The user whose wallet to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct UserQuery {
    #[param(inline)]
    pub(super) external_user_id: UserText,
}

/// Read a code wallet
///
/// With a publishable key, codes that open nothing are limited to 20 an hour.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/{code}",
    tag = "Code wallets",
    params(("code" = inline(CodeText), Path)),
    responses((status = 200, description = "The wallet", body = CodeWallet)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!(["wallet_not_found", "too_many_invalid_codes"]))),
)]
pub(super) async fn read_wallet(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
) -> Result<Response, Error> {
    let view = app.handle.read(&key.scope, code.address()?).await;
    let view = view.map_err(|error| code.refused(error, &key))?;
    let holdings = Holdings::of(&view, &key);
    respond::json(&CodeWallet::new(code.code()?.reveal(), holdings))
}

/// Read an external wallet
///
/// Never creates one.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/external",
    tag = "External wallets",
    params(UserQuery),
    responses((status = 200, description = "The wallet", body = ExternalWallet)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["wallet_not_found"]))),
)]
pub(super) async fn read_external_wallet(
    State(app): State<App>,
    key: SecretKey,
    Params(UserQuery { external_user_id }): Params<UserQuery>,
) -> Result<Response, Error> {
    let Text(user) = external_user_id;
    let address = Address::External(user.clone());
    let view = app.handle.read(&key.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&ExternalWallet::of(&view, user.as_str(), &key))
}
