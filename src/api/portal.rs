//! `GET /wallets/{code}/portal` and `POST /wallets/external/portal`: the provider's pages on which
//! customers see bills, change cards, switch tiers and cancel.

use actors::Address;
use axum::{extract::State, response::Response};
use domain::catalog::KeyKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    http::{
        Error,
        auth::{AnyKey, SecretKey},
        body::Body,
        code_path::CodePath,
        field::Text,
        query::Query,
        redirect::redirect,
        respond,
        subject::{self, required},
    },
    payments,
    state::App,
};

const RETURN_URL: &str = "returnUrl";

/// Whose portal.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OpenPortal)]
pub(super) struct Request<'a> {
    /// The caller's own user id.
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false)]
    external_user_id: Option<Text<'a>>,
    /// Where the portal leads back to.
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false)]
    return_url: Option<Text<'a>>,
}

/// A portal for one customer.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Portal {
    /// Where to send the customer, soon: it opens for a short time.
    url: String,
}

/// Open the portal of a code wallet
///
/// The wallet must have completed a purchase.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/{code}/portal",
    tag = "Purchases",
    params(
        ("code" = String, Path, description = "The recovery code, in any case"),
        ("returnUrl" = String, Query, description = "Where the portal leads back to"),
    ),
    responses((status = 200, description = "The portal", body = Portal)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "invalid_request", "redirect_not_allowed", "wallet_not_found", "too_many_invalid_codes",
        "no_purchase", "provider_not_configured", "provider_error"
    ]))),
)]
pub(super) async fn open_portal(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
    query: Query,
) -> Result<Response, Error> {
    let typed = required(query.return_url()?, RETURN_URL)?;
    let origins = &key.project.allowed_origins;
    let target = redirect(RETURN_URL, typed, key.kind(), origins)?;
    let opened = app
        .payments
        .portal(&key, code.address()?, Some(target.into_string()));
    let url = opened.await.map_err(|error| match error {
        payments::Error::Wallet(error) => code.refused(error, &key),
        other => Error::from_payments(other, &key),
    })?;
    respond::json(&Portal { url })
}

/// Open the portal of an external wallet
///
/// The wallet must have completed a purchase.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/external/portal",
    tag = "Purchases",
    request_body = Request,
    responses((status = 200, description = "The portal", body = Portal)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "wallet_not_found", "no_purchase", "provider_not_configured", "provider_error"
    ]))),
)]
pub(super) async fn open_external_portal(
    State(app): State<App>,
    key: SecretKey,
    body: Body,
) -> Result<Response, Error> {
    let request: Request<'_> = body.parse()?;
    let user = subject::external_user(request.external_user_id.as_ref())?;
    let typed = required(request.return_url.as_ref(), RETURN_URL)?;
    let target = redirect(RETURN_URL, typed.as_str(), KeyKind::Secret, &[])?;
    let address = Address::External(user);
    let opened = app
        .payments
        .portal(&key, &address, Some(target.into_string()))
        .await;
    let url = opened.map_err(|error| Error::from_payments(error, &key))?;
    respond::json(&Portal { url })
}
