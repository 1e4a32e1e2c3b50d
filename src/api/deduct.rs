//! `POST /wallets/{code}/deduct` and `POST /wallets/external/deduct`: using credits up.

use actors::{Address, Applied};
use axum::{extract::State, response::Response};
use domain::wallet::{ProductRef, deduct::Deduct};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    http::{
        Error,
        auth::{AnyKey, SecretKey},
        body::Body,
        code_path::CodePath,
        field::{Positive, Text},
        idempotency::KeyHeader,
        meta, respond,
        subject::{self, required},
        view::Deducted,
    },
    state::App,
};

/// Credits to use up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Deduct)]
pub(crate) struct Request<'a> {
    /// Whose credits.
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false)]
    product_id: Option<Text<'a>>,
    #[schema(value_type = i64, required, nullable = false, minimum = 1, maximum = 9007199254740991_i64)]
    amount: Option<Positive>,
    /// Names the operation: it is applied once. May be sent as the header `Idempotency-Key`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    idempotency_key: Option<Text<'a>>,
    /// A note for the ledger: at most 4 KiB.
    #[serde(borrow)]
    #[schema(value_type = Option<Object>)]
    meta: Option<&'a RawValue>,
}

/// Credits of a user to use up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeductExternal)]
pub(crate) struct ExternalRequest<'a> {
    /// The caller's own user id.
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false, min_length = 1, max_length = 255)]
    external_user_id: Option<Text<'a>>,
    /// Whose credits; may be left out where the project has exactly one product that holds credits.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    product_id: Option<Text<'a>>,
    #[schema(value_type = i64, required, nullable = false, minimum = 1, maximum = 9007199254740991_i64)]
    amount: Option<Positive>,
    /// Names the operation: it is applied once. May be sent as the header `Idempotency-Key`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    idempotency_key: Option<Text<'a>>,
    /// A note for the ledger: at most 4 KiB.
    #[serde(borrow)]
    #[schema(value_type = Option<Object>)]
    meta: Option<&'a RawValue>,
}

/// Deduct from a code wallet
///
/// Applied once for each `idempotencyKey`: a repeat answers the current balance,
/// `deducted: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/{code}/deduct",
    tag = "Code wallets",
    params(
        ("code" = String, Path, description = "The recovery code, in any case"),
        ("Idempotency-Key" = Option<String>, Header, description = "In place of `idempotencyKey`"),
    ),
    request_body = Request,
    responses((status = 200, description = "Done, now or before", body = Deducted)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "wallet_not_found", "product_not_found", "idempotency_key_reused", "insufficient_credits",
        "too_many_invalid_codes"
    ]))),
)]
pub(crate) async fn deduct(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_code(&app, &key, &code, &header, &body).await
}

/// The same for whoever knows the route already.
pub(crate) async fn by_code(
    app: &App,
    key: &AnyKey,
    code: &CodePath,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let request: Request<'_> = body.parse()?;
    let product = required(request.product_id.as_ref(), "productId")?;
    let Positive(amount) = required(request.amount, "amount")?;
    let idempotency = header.or(request.idempotency_key.as_ref())?;
    let meta = meta::parse(request.meta)?;
    let product = ProductRef::Named(subject::product(product, key)?);
    let command = Deduct {
        product,
        amount,
        key: idempotency,
        meta,
    };
    let outcome = app
        .handle
        .deduct(&key.scope, code.address()?, command)
        .await;
    app.metrics.deducted(outcome.as_ref());
    answer(outcome.map_err(|error| code.refused(error, key))?)
}

/// Deduct from an external wallet
///
/// Applied once for each `idempotencyKey`: a repeat answers the current balance,
/// `deducted: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/external/deduct",
    tag = "External wallets",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "In place of `idempotencyKey`"),
    ),
    request_body = ExternalRequest,
    responses((status = 200, description = "Done, now or before", body = Deducted)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "product_required", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "insufficient_credits"
    ]))),
)]
pub(crate) async fn deduct_external(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_user(&app, &key, &header, &body).await
}

/// The same for whoever knows the route already.
pub(crate) async fn by_user(
    app: &App,
    key: &SecretKey,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let request: ExternalRequest<'_> = body.parse()?;
    let user = subject::external_user(request.external_user_id.as_ref())?;
    let Positive(amount) = required(request.amount, "amount")?;
    let idempotency = header.or(request.idempotency_key.as_ref())?;
    let meta = meta::parse(request.meta)?;
    let product = subject::product_or_only(request.product_id.as_ref(), key)?;
    let command = Deduct {
        product,
        amount,
        key: idempotency,
        meta,
    };
    let outcome = app
        .handle
        .deduct(&key.scope, &Address::External(user), command)
        .await;
    app.metrics.deducted(outcome.as_ref());
    answer(outcome.map_err(|error| Error::from_wallet(error, key))?)
}

fn answer(applied: Applied) -> Result<Response, Error> {
    respond::replayable(&Deducted::from(applied), applied.replayed)
}
