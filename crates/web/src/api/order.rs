//! `GET /orders`: a project's orders, newest first. `GET /orders/{orderIdOrCheckoutId}`: an order and its
//! status. A browser's success page needs it, and knows the order's or the checkout's identifier; neither
//! can be guessed.

use axum::{
    extract::{FromRequestParts, RawPathParams, State},
    http::request::Parts,
    response::Response,
};
use catalog::ProjectCatalog;
use domain::{Rejection, catalog::KeyKind, id::OrderId, wallet::OrderStatus};
use edge::{
    BehindEdge,
    caller::{AnyKey, MayReadOrders, SecretKey},
};
use wire::{
    Error, ErrorCode, respond,
    view::{self, PublicOrder},
};

use crate::{
    api::App,
    http::{
        code_path::MissCounter,
        operation::Input,
        order_name::OrderName,
        orders::{FilterQuery, PageQuery},
        query::{Both, Params},
    },
};

/// How long after its payment an order that is asked for by its checkout shows its code: a day.
const CODE_SHOWN_SECONDS: i64 = 86_400;

/// The order that a path names, malformed or not.
#[derive(Debug)]
pub(super) struct OrderPath {
    named: OrderName,
    typed: Box<str>,
    guesses: MissCounter,
}

impl Input for OrderPath {}

impl<S: BehindEdge> FromRequestParts<S> for OrderPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let guesses = MissCounter::in_request(parts, state.edge())?;
        // A path that is not UTF-8 names no order.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let typed = params.iter().flatten().next().map_or("", |(_, text)| text);
        Ok(Self {
            named: OrderName::by(typed),
            typed: typed.into(),
            guesses,
        })
    }
}

impl OrderPath {
    /// The order's identifier, which leads to its wallet. Only the wallet knows whether the order
    /// exists.
    pub(super) async fn id(&self, app: &App, project: &ProjectCatalog) -> Result<OrderId, Error> {
        match &self.named {
            OrderName::Order(order) => Ok(*order),
            OrderName::Checkout(checkout) => {
                let answer = app.handle.order_of_checkout(&project.scope, checkout).await;
                let answer = answer.map_err(|error| Error::from_wallet(error, project))?;
                Ok(answer.id)
            }
            OrderName::Nothing => Err(Error::new(ErrorCode::OrderNotFound)),
        }
    }
}

pub(super) async fn read_order(
    State(app): State<App>,
    key: AnyKey<MayReadOrders>,
    path: OrderPath,
) -> Result<Response, Error> {
    let is_of_another = |order: &OrderId| {
        let session = key.session();
        session.is_some_and(|session| session.wallet != order.wallet)
    };
    if let OrderName::Order(order) = &path.named
        && is_of_another(order)
    {
        return Err(Error::new(ErrorCode::SessionForbidden));
    }
    let is_by_checkout = matches!(&path.named, OrderName::Checkout(_));
    let order = path.named.find(&app.handle, &key.scope).await;
    let order = order.map_err(|error| match error {
        actors::Error::Rejected(Rejection::OrderNotFound) => path
            .guesses
            .wrong_code(&path.typed, ErrorCode::OrderNotFound),
        other => Error::from_wallet(other, &key),
    })?;
    if is_of_another(&order.id) {
        return Err(Error::new(ErrorCode::SessionForbidden));
    }
    if is_by_checkout && order.order.status() == OrderStatus::Pending {
        // A buyer is back and waits: where no webhook comes, the provider's list of events tells within
        // seconds.
        app.payments.expect(key.scope.project);
    }
    let mut shown = view::order(&order, key.kind());
    let since = order.order.paid_at.unwrap_or(order.order.created_at);
    let is_old = since.plus_seconds(CODE_SHOWN_SECONDS) <= app.handle.now_in(&key.scope);
    let hides_code = match key.kind() {
        // Others may have seen the checkout's id, in the address of the success page.
        KeyKind::Publishable => key.session().is_some() || is_by_checkout && is_old,
        KeyKind::Secret | KeyKind::Restricted => !key.sees_codes(),
    };
    if hides_code {
        shown.code = None;
    }
    match key.kind() {
        KeyKind::Publishable => respond::json(&PublicOrder(shown)),
        KeyKind::Secret | KeyKind::Restricted => respond::json(&shown),
    }
}

pub(super) async fn list_orders(
    State(app): State<App>,
    key: SecretKey<MayReadOrders>,
    Params(Both(only, part)): Params<Both<FilterQuery, PageQuery>>,
) -> Result<Response, Error> {
    match key.session() {
        Some(session) => part.answer_own(session, &app.handle, &key).await,
        None => {
            let filter = only.filter(&key)?;
            let wanted = (filter, key.sees_codes());
            respond::json(&part.page(wanted, &app.handle, &key).await?)
        }
    }
}
