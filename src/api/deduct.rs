//! `POST /wallets/{code}/deduct` and `POST /wallets/external/deduct`: using credits up.

use axum::{extract::State, response::Response};
use domain::{text::IdempotencyKey, wallet::deduct};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    catalog::ProjectCatalog,
    http::{
        AnyKey, Body, Error, SecretKey,
        code_path::CodePath,
        field::{CodeText, KeyText, MetaObject, Positive, ProductName},
        idempotency::KeyHeader,
        respond,
        subject::{ForUser, MayNameProduct, Subject, WithProduct, product_or_only},
        view::Deducted,
    },
    state::App,
};

/// Credits to use up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Deduct {
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
}

/// The path has the code, the body has to name the product.
type ByCode = WithProduct<Deduct>;
/// The body also names the user.
type ByUser = ForUser<Deduct>;

/// Deduct from a code wallet
///
/// Applied once for each `idempotencyKey`: a repeat answers the current balance,
/// `deducted: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/{code}/deduct",
    tag = "Code wallets",
    params(("code" = inline(CodeText), Path)),
    request_body = ByCode,
    responses((status = 200, description = "Done, now or before", body = Deducted)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "wallet_not_found", "product_not_found", "idempotency_key_reused", "insufficient_credits",
        "too_many_invalid_codes"
    ]))),
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
    request_body = ByUser,
    responses((status = 200, description = "Done, now or before", body = Deducted)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "product_required", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "insufficient_credits"
    ]))),
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
    let WithProduct(command) = body.parse::<ByCode>()?;
    answer(app, key, &code.into(), header, command).await
}

/// A deduction by user, for the router and for the fast path.
pub(crate) async fn by_user(
    app: &App,
    key: &SecretKey,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let ForUser { user, command } = body.parse::<ByUser>()?;
    answer(app, key, &user.into(), header, command).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &Subject,
    header: &KeyHeader,
    mut command: Deduct,
) -> Result<Response, Error> {
    let key = header.or(command.take_key())?;
    let command = command.command(key, project)?;
    let outcome = app
        .handle
        .deduct(&project.scope, wallet.address()?, command)
        .await;
    app.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| wallet.refused(error, project))?;
    respond::replayable(&Deducted::from(applied), applied.replayed)
}

impl Deduct {
    /// Takes the key out of the body.
    pub(super) const fn take_key(&mut self) -> Option<KeyText> {
        self.idempotency_key.take()
    }

    /// The command for the wallet.
    pub(super) fn command(
        self,
        key: IdempotencyKey,
        project: &ProjectCatalog,
    ) -> Result<deduct::Deduct, Error> {
        Ok(deduct::Deduct {
            product: product_or_only(self.product_id.as_ref(), project)?,
            amount: self.amount.0,
            key,
            meta: self.meta.map(|MetaObject(meta)| meta),
        })
    }
}

impl MayNameProduct for Deduct {
    fn names_product(&self) -> bool {
        self.product_id.is_some()
    }
}
