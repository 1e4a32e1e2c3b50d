//! `GET /orders/{orderIdOrCheckoutId}`: how an order stands. A browser's success page needs it, and
//! knows the order's or the checkout's identifier, neither of which can be guessed.

use axum::{
    extract::{FromRequestParts, RawPathParams, State},
    http::request::Parts,
    response::Response,
};
use domain::{id::OrderId, text::CheckoutId};

use crate::{
    http::{Code, Error, auth::AnyKey, respond, view::Order},
    state::App,
};

/// What a path names an order by.
#[derive(Debug)]
pub(super) enum OrderPath {
    /// `ord_…`
    Order(OrderId),
    /// `cs_…`
    Checkout(CheckoutId),
    /// Neither.
    Nothing,
}

impl<S: Send + Sync> FromRequestParts<S> for OrderPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let Ok(params) = params else {
            return Ok(Self::Nothing);
        };
        let named = params.iter().next().map_or("", |(_, text)| text);
        let checkout = || {
            CheckoutId::new(named)
                .ok()
                .filter(|_| named.starts_with("cs_"))
        };
        Ok(match (named.parse(), checkout()) {
            (Ok(order), _) => Self::Order(order),
            (Err(_), Some(checkout)) => Self::Checkout(checkout),
            (Err(_), None) => Self::Nothing,
        })
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
    extensions(("x-errors" = json!(["order_not_found"]))),
)]
pub(super) async fn read_order(
    State(app): State<App>,
    key: AnyKey,
    path: OrderPath,
) -> Result<Response, Error> {
    let order = match path {
        OrderPath::Order(order) => app.handle.order(&key.scope, order).await,
        OrderPath::Checkout(checkout) => app.handle.order_of_checkout(&key.scope, &checkout).await,
        OrderPath::Nothing => return Err(Error::new(Code::OrderNotFound)),
    };
    let order = order.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&Order::of(&order, key.kind()))
}
