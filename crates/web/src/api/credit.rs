//! `POST /credit`: granting credits by hand.

use api_types::Credited;
use axum::{extract::State, response::Response};
use edge::{SecretKey, body::Body};
use wire::Error;

use crate::{
    api::App,
    http::{
        grant::{self, Credit},
        idempotency::KeyHeader,
        subject::{NamedWallet, WalletChoice},
    },
};

/// The schema of the request: one of two fields names the wallet.
type RequestSchema = WalletChoice<Credit>;

/// Grant credits
///
/// Applied once for each `idempotencyKey`: a repeat answers the current balance,
/// `credited: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/credit",
    tag = "Wallets of both kinds",
    request_body = RequestSchema,
    responses((status = 200, description = "Done, now or before", body = Credited)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "project_archived",
        "conflicting_wallet", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "balance_limit", "too_many_lots"
    ])))
)]
pub(super) async fn credit(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let mut request: Credit = body.parse()?;
    key.require_not_archived()?;
    let wallet = NamedWallet::one_of(request.external_user_id.take(), request.code.take())?;
    let command = request.command(&header, &key)?;
    let applied = app
        .handle
        .credit(&key.scope, &wallet.into_address()?, command)
        .await;
    let applied = applied.map_err(|error| Error::from_wallet(error, &key))?;
    grant::answer(&applied)
}
