//! `POST /wallets/{code}/holds` and `POST /wallets/external/holds`: setting credits aside for work
//! whose cost is known only afterwards.

use actors::{Address, HoldAnswer, NewHold};
use axum::{extract::State, response::Response};
use domain::catalog::KeyKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    catalog::ProjectCatalog,
    http::{
        Error,
        auth::{AnyKey, SecretKey},
        body::Body,
        code_path::CodePath,
        field::{Positive, Text, Whole},
        idempotency::KeyHeader,
        meta, respond,
        subject::{self, required},
        view::PlacedHold,
    },
    state::App,
};

/// A day: nothing is held longer at once.
pub(super) const MAX_SECONDS: i64 = 86_400;
const DEFAULT_SECONDS: i64 = 900;

/// Credits to set aside.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlaceHold)]
pub(super) struct Request<'a> {
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
    /// Until the credits come back by themselves; 900 when left out.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 86400)]
    expires_in_seconds: Option<Whole<1, MAX_SECONDS>>,
    /// A note for the ledger: at most 4 KiB.
    #[serde(borrow)]
    #[schema(value_type = Option<Object>)]
    meta: Option<&'a RawValue>,
}

/// Credits of a user to set aside.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlaceExternalHold)]
pub(super) struct ExternalRequest<'a> {
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
    /// Until the credits come back by themselves; 900 when left out.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 86400)]
    expires_in_seconds: Option<Whole<1, MAX_SECONDS>>,
    /// A note for the ledger: at most 4 KiB.
    #[serde(borrow)]
    #[schema(value_type = Option<Object>)]
    meta: Option<&'a RawValue>,
}

/// Hold credits of a code wallet
///
/// Repeating a hold with its key answers the original hold, even a closed one.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/{code}/holds",
    tag = "Holds",
    params(
        ("code" = String, Path, description = "The recovery code, in any case"),
        ("Idempotency-Key" = Option<String>, Header, description = "In place of `idempotencyKey`"),
    ),
    request_body = Request,
    responses((status = 200, description = "The hold", body = PlacedHold)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "product_required", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "too_many_holds", "insufficient_credits", "too_many_invalid_codes"
    ]))),
)]
pub(super) async fn place_hold(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: Request<'_> = body.parse()?;
    let hold = new_hold(&app, &request, &header, &key, key.kind())?;
    let answer = app
        .handle
        .place_hold(&key.scope, code.address()?, hold)
        .await;
    answer_with(&answer.map_err(|error| code.refused(error, &key))?)
}

/// Hold credits of an external wallet
///
/// Repeating a hold with its key answers the original hold, even a closed one.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/external/holds",
    tag = "Holds",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "In place of `idempotencyKey`"),
    ),
    request_body = ExternalRequest,
    responses((status = 200, description = "The hold", body = PlacedHold)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "product_required", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "too_many_holds", "insufficient_credits"
    ]))),
)]
pub(super) async fn place_external_hold(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: ExternalRequest<'_> = body.parse()?;
    let user = subject::external_user(request.external_user_id.as_ref())?;
    let ExternalRequest {
        product_id,
        amount,
        idempotency_key,
        expires_in_seconds,
        meta,
        ..
    } = request;
    let request = Request {
        product_id,
        amount,
        idempotency_key,
        expires_in_seconds,
        meta,
    };
    let hold = new_hold(&app, &request, &header, &key, KeyKind::Secret)?;
    let answer = app
        .handle
        .place_hold(&key.scope, &Address::External(user), hold)
        .await;
    answer_with(&answer.map_err(|error| Error::from_wallet(error, &key))?)
}

fn new_hold(
    app: &App,
    request: &Request<'_>,
    header: &KeyHeader,
    project: &ProjectCatalog,
    kind: KeyKind,
) -> Result<NewHold, Error> {
    let Positive(amount) = required(request.amount, "amount")?;
    let key = header.or(request.idempotency_key.as_ref())?;
    let Whole(seconds) = request.expires_in_seconds.unwrap_or(Whole(DEFAULT_SECONDS));
    let meta = meta::parse(request.meta)?;
    let product = subject::product_or_only(request.product_id.as_ref(), project)?;
    // At most a day: it fits.
    let expires_in_seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
    Ok(NewHold {
        product,
        amount,
        expires_in_seconds,
        key,
        meta,
        publishable: kind == KeyKind::Publishable,
        most_open: app.limits.settings().open_holds,
    })
}

fn answer_with(answer: &HoldAnswer) -> Result<Response, Error> {
    respond::replayable(&PlacedHold::from(answer), answer.replayed)
}
