//! `GET /wallets/{code}` and `GET /wallets/external`: what a wallet holds.

use axum::{extract::State, response::Response};
use edge::caller::{AnyKey, MayRead, SecretKey};
use serde::Deserialize;
use wire::{
    Error,
    field::UserText,
    respond,
    view::{self, CodeWallet},
};

use crate::{
    api::App,
    http::{
        code_path::{CodePath, IN_HEADER},
        query::Params,
        subject::users_wallet,
    },
};

/// The user whose wallet to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct UserQuery {
    /// The user, unless it is the session's own.
    #[param(inline)]
    pub(super) external_user_id: Option<UserText>,
}

pub(super) async fn read_wallet(
    State(app): State<App>,
    key: AnyKey<MayRead>,
    code: CodePath,
) -> Result<Response, Error> {
    let view = app.handle.read(&key.scope, code.address()?).await;
    let view = view.map_err(|error| code.refused(error, &key))?;
    let holdings = view::holdings(&view, &key, key.kind());
    let code = match key.session() {
        Some(_) => IN_HEADER,
        None => code.code()?.reveal(),
    };
    respond::json(&CodeWallet {
        code: code.to_owned(),
        holdings,
    })
}

pub(super) async fn read_external_wallet(
    State(app): State<App>,
    key: SecretKey<MayRead>,
    Params(UserQuery { external_user_id }): Params<UserQuery>,
) -> Result<Response, Error> {
    let address = users_wallet(external_user_id, key.session())?;
    let view = app.handle.read(&key.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&view::external_wallet(
        &view,
        &address.reveal(),
        &key,
        key.kind(),
    ))
}
