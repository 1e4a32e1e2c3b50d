//! `GET /orders`: a project's orders, newest first.

use axum::{extract::State, response::Response};

use crate::{
    http::{Error, SecretKey, orders::PageQuery, query::Params, view::Orders},
    state::App,
};

/// List orders
///
/// Newest first. Orders carry recovery codes: a secret key is needed.
#[utoipa::path(
    get,
    path = "/api/v1/orders",
    tag = "Purchases",
    params(PageQuery),
    responses((status = 200, description = "A page of orders", body = Orders)),
    security(("secret" = [])),
)]
pub(super) async fn list_orders(
    State(app): State<App>,
    key: SecretKey,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    part.answer(None, &app, &key).await
}
