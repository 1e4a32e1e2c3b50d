//! `POST /wallets/{code}/holds` and `POST /wallets/external/holds`: setting credits aside for work
//! whose cost is known only afterwards.

use axum::{extract::State, response::Response};
use domain::{Timestamp, catalog::KeyKind, wallet::hold};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    catalog::ProjectCatalog,
    http::{
        AnyKey, Body, Error, SecretKey,
        code_path::CodePath,
        field::{CodeText, KeyText, MetaObject, Positive, ProductName, Seconds, Text, UserText},
        idempotency::KeyHeader,
        respond,
        subject::{Subject, product_or_only},
        view::PlacedHold,
    },
    state::App,
};

const DEFAULT_SECONDS: u32 = 900;

/// Credits to set aside.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlaceHold {
    /// The product whose credits to hold; may be left out where the project has exactly one product
    /// that holds credits.
    product_id: Option<ProductName>,
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// Seconds until the credits come back by themselves; 900 when left out.
    expires_in_seconds: Option<Seconds>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
}

/// Credits to set aside.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlaceHoldExternal {
    /// The product whose credits to hold; may be left out where the project has exactly one product
    /// that holds credits.
    product_id: Option<ProductName>,
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// Seconds until the credits come back by themselves; 900 when left out.
    expires_in_seconds: Option<Seconds>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
    external_user_id: UserText,
}

/// Hold credits of a code wallet
///
/// Repeating a hold with its key answers the original hold, even a closed one.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/{code}/holds",
    tag = "Holds",
    params(("code" = inline(CodeText), Path)),
    request_body = PlaceHold,
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
    let request = body.parse()?;
    answer(&app, &key, key.kind(), &code.into(), &header, request).await
}

/// Hold credits of an external wallet
///
/// Repeating a hold with its key answers the original hold, even a closed one.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/external/holds",
    tag = "Holds",
    request_body = PlaceHoldExternal,
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
    let PlaceHoldExternal {
        product_id,
        amount,
        idempotency_key,
        expires_in_seconds,
        meta,
        external_user_id: Text(user),
    } = body.parse()?;
    let request = PlaceHold {
        product_id,
        amount,
        idempotency_key,
        expires_in_seconds,
        meta,
    };
    let secret = KeyKind::Secret;
    answer(&app, &key, secret, &user.into(), &header, request).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    kind: KeyKind,
    wallet: &Subject,
    header: &KeyHeader,
    request: PlaceHold,
) -> Result<Response, Error> {
    let key = header.or(request.idempotency_key)?;
    let product = product_or_only(request.product_id.as_ref(), project)?;
    let seconds = request
        .expires_in_seconds
        .map_or(DEFAULT_SECONDS, Seconds::small);
    let hold = |id, now: Timestamp| hold::PlaceHold {
        id,
        product,
        amount: request.amount.0,
        expires_at: now.plus_seconds(seconds.into()),
        key,
        meta: request.meta.map(|MetaObject(meta)| meta),
        publishable: kind == KeyKind::Publishable,
        most_open: app.limits.settings().open_holds,
    };
    let placed = app
        .handle
        .place_hold(&project.scope, wallet.address()?, hold)
        .await;
    let placed = placed.map_err(|error| wallet.refused(error, project))?;
    respond::replayable(&PlacedHold::from(&placed), placed.replayed)
}
