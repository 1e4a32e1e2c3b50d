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
        subject::{MayNameProduct, OfProduct, OfUser, Subject, product_or_only},
        view::Deducted,
    },
    state::App,
};

/// Credits to use up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Deduct {
    /// Whose credits; may be left out where the project has exactly one product that holds credits.
    product_id: Option<ProductName>,
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
    /// except in a batch.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
}

/// The code is in the path, the product in the body.
type ByCode = OfProduct<Deduct>;
/// Both are in the body.
type ByUser = OfUser<Deduct>;

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

/// For whoever knows the route already, and for the router.
pub(crate) async fn by_code(
    app: &App,
    key: &AnyKey,
    code: CodePath,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let OfProduct(verb) = body.parse::<ByCode>()?;
    answer(app, key, &code.into(), header, verb).await
}

/// Likewise.
pub(crate) async fn by_user(
    app: &App,
    key: &SecretKey,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let OfUser { user, verb } = body.parse::<ByUser>()?;
    answer(app, key, &user.into(), header, verb).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &Subject,
    header: &KeyHeader,
    mut verb: Deduct,
) -> Result<Response, Error> {
    let key = header.or(verb.take_key())?;
    let command = verb.command(key, project)?;
    let outcome = app
        .handle
        .deduct(&project.scope, wallet.address()?, command)
        .await;
    app.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| wallet.refused(error, project))?;
    respond::replayable(&Deducted::from(applied), applied.replayed)
}

impl Deduct {
    /// The key in the body, once.
    pub(super) const fn take_key(&mut self) -> Option<KeyText> {
        self.idempotency_key.take()
    }

    /// What the wallet is told.
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
