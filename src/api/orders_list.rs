//! `GET /orders`: a project's orders, newest first.

use axum::{extract::State, response::Response};

use crate::{
    http::{Error, auth::SecretKey, query::Query, respond, view::Orders},
    state::App,
};

/// List orders
///
/// Newest first. Orders carry recovery codes: a secret key is needed.
#[utoipa::path(
    get,
    path = "/api/v1/orders",
    tag = "Purchases",
    params(
        ("limit" = Option<u32>, Query, description = "1 to 100; 25 when left out"),
        ("cursor" = Option<String>, Query, description = "A `nextCursor`"),
    ),
    responses((status = 200, description = "A page of orders", body = Orders)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["invalid_request"]))),
)]
pub(super) async fn list_orders(
    State(app): State<App>,
    key: SecretKey,
    query: Query,
) -> Result<Response, Error> {
    let (limit, before) = query.orders()?;
    let page = app.handle.orders(&key.scope, before, limit).await;
    let page = page.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&Orders::from(&page))
}
