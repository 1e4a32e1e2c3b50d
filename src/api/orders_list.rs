//! `GET /orders`: a project's orders, newest first.

use axum::{extract::State, response::Response};
use serde::Deserialize;

use crate::{
    http::{
        Error, SecretKey,
        cursor::{OrderCursor, OrderCursorText},
        field::{LimitText, Text},
        query::Params,
        respond,
        view::Orders,
    },
    state::App,
};

/// Which part of the list to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Part {
    /// Orders on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<OrderCursorText>,
}

/// List orders
///
/// Newest first. Orders carry recovery codes: a secret key is needed.
#[utoipa::path(
    get,
    path = "/api/v1/orders",
    tag = "Purchases",
    params(Part),
    responses((status = 200, description = "A page of orders", body = Orders)),
    security(("secret" = [])),
)]
pub(super) async fn list_orders(
    State(app): State<App>,
    key: SecretKey,
    Params(part): Params<Part>,
) -> Result<Response, Error> {
    let limit = part.limit.map_or_else(Default::default, |limit| limit.0).0;
    let before = part.cursor.map(|Text(OrderCursor(at, order))| (at, order));
    let page = app.handle.orders(&key.scope, before, limit).await;
    let page = page.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&Orders::from(&page))
}
