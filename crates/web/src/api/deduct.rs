//! `POST /wallets/{code}/deduct` and `POST /wallets/external/deduct`: using credits up.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::wallet::{ProductRef, deduct::Deduct, shortfall::OnShortfall};
use edge::{AnyKey, SecretKey, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{
        CodeText, KeyText, MetaObject, OnShortfallText, Positive, ProductName, Text, UserText,
    },
    respond,
    view::{self, Deducted},
};

use crate::{
    api::App,
    http::{
        code_path::CodePath,
        idempotency::KeyHeader,
        subject::{NamedWallet, product, product_or_only},
    },
};

/// Credits to use up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeductByCode {
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
    /// except in a batch.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    product_id: ProductName,
    /// A note for the ledger.
    meta: Option<MetaObject>,
    /// What to do where the balance does not cover the amount: `refuse` (when left out), `drain` takes what can be
    /// spent, `owe` makes a debt of the rest as far as that may be. A code wallet never owes.
    on_shortfall: Option<OnShortfallText>,
}

/// Credits to use up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeductExternal {
    /// The product whose credits to use; may be left out where the project has exactly one product
    /// that holds credits.
    product_id: Option<ProductName>,
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
    /// except in a batch.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
    /// What to do where the balance does not cover the amount: `refuse` (when left out), `drain` takes what can be
    /// spent, `owe` makes a debt of the rest as far as that may be. A code wallet never owes.
    on_shortfall: Option<OnShortfallText>,
    external_user_id: UserText,
}

/// Deduct from a code wallet
///
/// Applied once for each `idempotencyKey`: a repeat answers the current balance,
/// `deducted: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/{code}/deduct",
    tag = "Code wallets",
    params(("code" = inline(CodeText), Path)),
    request_body = DeductByCode,
    responses((status = 200, description = "Done, now or before", body = Deducted)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "wallet_frozen", "project_archived",
        "wallet_not_found", "product_not_found", "idempotency_key_reused", "insufficient_credits",
        "too_many_invalid_codes"
    ])))
)]
pub(super) async fn deduct(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_code(&app, &key, code, &header, &body).await
}

/// Deduct from an external wallet
///
/// Applied once for each `idempotencyKey`: a repeat answers the current balance,
/// `deducted: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/external/deduct",
    tag = "External wallets",
    request_body = DeductExternal,
    responses((status = 200, description = "Done, now or before", body = Deducted)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "wallet_frozen", "project_archived",
        "product_required", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "insufficient_credits"
    ])))
)]
pub(super) async fn deduct_external(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_user(&app, &key, &header, &body).await
}

/// A deduction by code, for the router and for the fast path.
pub(crate) async fn by_code(
    app: &App,
    key: &AnyKey,
    code: CodePath,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let request: DeductByCode = body.parse()?;
    key.require_not_archived()?;
    let command = Deduct {
        key: header.or(request.idempotency_key)?,
        product: ProductRef::Named(product(&request.product_id, key)?),
        amount: request.amount.0,
        meta: request.meta.map(|MetaObject(meta)| meta),
        on_shortfall: shortfall(request.on_shortfall.as_ref()),
    };
    let names_shortfall = request.on_shortfall.is_some();
    answer(app, key, &code.into(), command, names_shortfall).await
}

/// A deduction by user, for the router and for the fast path.
pub(crate) async fn by_user(
    app: &App,
    key: &SecretKey,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let request: DeductExternal = body.parse()?;
    key.require_not_archived()?;
    let Text(user) = request.external_user_id;
    let command = Deduct {
        key: header.or(request.idempotency_key)?,
        product: product_or_only(request.product_id.as_ref(), key)?,
        amount: request.amount.0,
        meta: request.meta.map(|MetaObject(meta)| meta),
        on_shortfall: shortfall(request.on_shortfall.as_ref()),
    };
    let names_shortfall = request.on_shortfall.is_some();
    answer(app, key, &user.into(), command, names_shortfall).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &NamedWallet,
    command: Deduct,
    names_shortfall: bool,
) -> Result<Response, Error> {
    let cost = command.amount.get();
    let outcome = app
        .handle
        .deduct(&project.scope, wallet.address()?, command)
        .await;
    app.edge.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| wallet.refused(error, project))?;
    respond::replayable(
        &view::deducted(&applied, cost, names_shortfall),
        applied.replayed,
    )
}

/// What to do with a shortfall: refuse it, unless the request says otherwise.
pub(super) fn shortfall(choice: Option<&OnShortfallText>) -> OnShortfall {
    choice.map_or_else(OnShortfall::default, |Text(choice)| *choice)
}
