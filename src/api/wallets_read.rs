//! `GET /wallets/{code}` and `GET /wallets/external`: what a wallet holds.

use actors::Address;
use axum::{extract::State, response::Response};

use crate::{
    http::{
        Error,
        auth::{AnyKey, SecretKey},
        code_path::CodePath,
        query::Query,
        respond,
        view::{CodeWallet, ExternalWallet, Holdings},
    },
    state::App,
};

/// Read a code wallet
///
/// With a publishable key, codes that open nothing are limited to 20 an hour.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/{code}",
    tag = "Code wallets",
    params(("code" = String, Path, description = "The recovery code, in any case")),
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
    respond::json(&CodeWallet {
        code: code.code()?.reveal(),
        holdings,
    })
}

/// Read an external wallet
///
/// Never creates one.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/external",
    tag = "External wallets",
    params(("externalUserId" = String, Query, description = "The caller's own user id")),
    responses((status = 200, description = "The wallet", body = ExternalWallet)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["invalid_request", "wallet_not_found"]))),
)]
pub(super) async fn read_external_wallet(
    State(app): State<App>,
    key: SecretKey,
    query: Query,
) -> Result<Response, Error> {
    let user = query.external_user()?;
    let view = app
        .handle
        .read(&key.scope, &Address::External(user.clone()))
        .await;
    let view = view.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&ExternalWallet::of(&view, user.as_str(), &key))
}
