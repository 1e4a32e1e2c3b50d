//! `POST /wallets/external`: get or create a user's wallet.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    http::{
        Body, Error, SecretKey,
        field::{Text, UserText},
        respond,
        view::ExternalWallet,
    },
    state::App,
};

/// The user whose wallet to get or create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OpenExternalWallet)]
pub(super) struct Request {
    external_user_id: UserText,
}

/// Get or create an external wallet
///
/// Idempotent by `externalUserId`.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/external",
    tag = "External wallets",
    request_body = Request,
    responses((status = 200, description = "The wallet", body = ExternalWallet)),
    security(("secret" = [])),
)]
pub(super) async fn open_external_wallet(
    State(app): State<App>,
    key: SecretKey,
    body: Body,
) -> Result<Response, Error> {
    let request: Request = body.parse()?;
    let Text(user) = request.external_user_id;
    let view = app.handle.open_external(&key.scope, user.clone()).await;
    let view = view.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&ExternalWallet::of(&view, user.as_str(), &key))
}
