//! `POST /orders/{orderIdOrCheckoutId}/refund`: gives money of an order back.

use axum::{extract::State, response::Response};
use domain::MAX_CREDITS;
use edge::{
    body::Body,
    caller::{MayRefund, SecretKey},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{BoundedInteger, KeyText},
    respond,
    view::{self},
};

use super::order::OrderPath;
use crate::{api::App, http::idempotency::KeyHeader};

/// Money in a currency's minor unit.
type Cents = BoundedInteger<1, MAX_CREDITS>;

/// How much to refund.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RefundOrder)]
pub(super) struct Request {
    /// The amount in the currency's minor unit; all that is left when left out.
    amount_cents: Option<Cents>,
    /// Names the operation: it is done once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
}

pub(super) async fn refund_order(
    State(app): State<App>,
    key: SecretKey<MayRefund>,
    order: OrderPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: Request = body.parse()?;
    let name = header.or(request.idempotency_key)?;
    let cents = request.amount_cents.map(|BoundedInteger(cents)| cents);
    let order = order.id(&app, &key).await?;
    let project = (*key).clone();
    let refunded = app.payments.refund(project, order, cents, name);
    let refunded = refunded
        .await
        .map_err(|error| Error::from_instruction(error, &key))?;
    let order = view::full_order(&refunded.after, key.sees_codes());
    respond::replayable(&order, refunded.replayed)
}
