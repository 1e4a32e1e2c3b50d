//! `GET /orders/{orderIdOrCheckoutId}`: how an order stands. A browser's success page needs it, and
//! knows the order's or the checkout's identifier, neither of which can be guessed.

use axum::{
    extract::{FromRef, FromRequestParts, RawPathParams, State},
    http::request::Parts,
    response::Response,
};
use domain::{Rejection, id::OrderId};

use crate::{
    catalog::ProjectCatalog,
    http::{
        Code, Error, auth::AnyKey, code_path::Guesses, order_name::OrderName, respond, view::Order,
    },
    state::App,
};

/// The order that a path names, malformed or not.
#[derive(Debug)]
pub(super) struct OrderPath {
    named: OrderName,
    guesses: Guesses,
}

impl<S: Send + Sync> FromRequestParts<S> for OrderPath
where
    App: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let guesses = Guesses::in_request(parts, App::from_ref(state))?;
        // A path that is not UTF-8 names nothing.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let named = params.iter().flatten().next();
        Ok(Self {
            named: named.map_or(OrderName::Nothing, |(_, text)| OrderName::by(text)),
            guesses,
        })
    }
}

impl OrderPath {
    /// The order's identifier, by which its wallet is found. Whether there is such an order, only that
    /// knows.
    pub(super) async fn id(&self, app: &App, project: &ProjectCatalog) -> Result<OrderId, Error> {
        match &self.named {
            OrderName::Order(order) => Ok(*order),
            OrderName::Checkout(checkout) => {
                let found = app.handle.order_of_checkout(&project.scope, checkout).await;
                let found = found.map_err(|error| Error::from_wallet(error, project))?;
                Ok(found.id)
            }
            OrderName::Nothing => Err(Error::new(Code::OrderNotFound)),
        }
    }
}

/// Read an order
///
/// By the order's or the checkout's identifier. `customerEmail` is there with a secret key only.
#[utoipa::path(
    get,
    path = "/api/v1/orders/{orderIdOrCheckoutId}",
    tag = "Purchases",
    params(("orderIdOrCheckoutId" = String, Path, description = "`ord_…` or `cs_…`")),
    responses((status = 200, description = "The order", body = Order)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!(["order_not_found", "too_many_invalid_codes"]))),
)]
pub(super) async fn read_order(
    State(app): State<App>,
    key: AnyKey,
    path: OrderPath,
) -> Result<Response, Error> {
    let order = path.named.find(&app.handle, &key.scope).await;
    let order = order.map_err(|error| match error {
        actors::Error::Rejected(Rejection::OrderNotFound) => {
            path.guesses.in_vain_for(Error::new(Code::OrderNotFound))
        }
        other => Error::from_wallet(other, &key),
    })?;
    respond::json(&Order::of(&order, key.kind()))
}
