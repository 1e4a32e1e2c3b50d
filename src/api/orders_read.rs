//! `GET /orders/{orderIdOrCheckoutId}`: how an order stands. A browser's success page needs it, and
//! knows the order's or the checkout's identifier, neither of which can be guessed.

use axum::{
    extract::{FromRef, FromRequestParts, RawPathParams, State},
    http::request::Parts,
    response::Response,
};
use domain::{Rejection, id::OrderId, text::CheckoutId};

use crate::{
    catalog::ProjectCatalog,
    http::{Code, Error, auth::AnyKey, code_path::Guesses, respond, view::Order},
    state::App,
};

/// The order that a path names, malformed or not.
#[derive(Debug)]
pub(super) struct OrderPath {
    named: Named,
    guesses: Guesses,
}

/// What it is named by.
#[derive(Debug)]
enum Named {
    /// `ord_…`
    Order(OrderId),
    /// `cs_…`
    Checkout(CheckoutId),
    /// Neither.
    Nothing,
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
            named: named.map_or(Named::Nothing, |(_, text)| Named::by(text)),
            guesses,
        })
    }
}

impl OrderPath {
    /// The order's identifier, by which its wallet is found. Whether there is such an order, only that
    /// knows.
    pub(super) async fn id(&self, app: &App, project: &ProjectCatalog) -> Result<OrderId, Error> {
        match &self.named {
            Named::Order(order) => Ok(*order),
            Named::Checkout(checkout) => {
                let found = app.handle.order_of_checkout(&project.scope, checkout).await;
                let found = found.map_err(|error| Error::from_wallet(error, project))?;
                Ok(found.id)
            }
            Named::Nothing => Err(Error::new(Code::OrderNotFound)),
        }
    }
}

impl Named {
    fn by(named: &str) -> Self {
        let checkout = || {
            CheckoutId::new(named)
                .ok()
                .filter(|_| named.starts_with("cs_"))
        };
        match (named.parse(), checkout()) {
            (Ok(order), _) => Self::Order(order),
            (Err(_), Some(checkout)) => Self::Checkout(checkout),
            (Err(_), None) => Self::Nothing,
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
    let order = match path.named {
        Named::Order(order) => app.handle.order(&key.scope, order).await,
        Named::Checkout(checkout) => app.handle.order_of_checkout(&key.scope, &checkout).await,
        Named::Nothing => Err(Rejection::OrderNotFound.into()),
    };
    let order = order.map_err(|error| match error {
        actors::Error::Rejected(Rejection::OrderNotFound) => {
            path.guesses.in_vain_for(Error::new(Code::OrderNotFound))
        }
        other => Error::from_wallet(other, &key),
    })?;
    respond::json(&Order::of(&order, key.kind()))
}
