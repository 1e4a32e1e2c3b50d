//! A project's orders, as its secret key reads them: list, show.

use axum::{extract::State, response::Response};
use domain::catalog::KeyKind;
use edge::{Authorized, Support};
use wire::{
    Error, respond,
    view::{Order, Orders},
};

use super::path::Segments;
use crate::{
    admin::App,
    http::{
        orders::{PageQuery, StatusQuery},
        query::Params,
    },
};

/// List a project's orders, newest first.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/orders",
    operation_id = "listOrders",
    tag = "Orders",
    params(("projectId" = String, Path, description = "The project."), StatusQuery, PageQuery),
    responses((status = 200, description = "A page of orders.", body = Orders)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn list(
    _: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
    Params(only): Params<StatusQuery>,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    let project = app.catalog.project(path.project()?)?;
    part.answer(only.status(), &app.handle, &project).await
}

/// Show an order.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/orders/{orderIdOrCheckoutId}",
    operation_id = "getOrder",
    tag = "Orders",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("orderIdOrCheckoutId" = String, Path, description = "`ord_…` or `cs_…`")
    ),
    responses((status = 200, description = "The order.", body = Order)),
    extensions(("x-errors" = json!(["project_not_found", "order_not_found"])))
)]
pub(super) async fn show(
    _: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
) -> Result<Response, Error> {
    let project = app.catalog.project(path.project()?)?;
    let order = path.order().find(&app.handle, &project.scope).await;
    let order = order.map_err(|error| Error::from_wallet(error, &project))?;
    respond::json(&Order::of(&order, KeyKind::Secret))
}
