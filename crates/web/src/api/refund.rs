//! `POST /orders/{orderIdOrCheckoutId}/refund`: gives money of an order back.

use axum::{extract::State, response::Response};
use domain::{MAX_CREDITS, catalog::KeyKind};
use edge::{SecretKey, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{BoundedInteger, KeyText},
    respond,
    view::{self, Order},
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

/// Refund an order
///
/// The payment provider gives the money back, and credits follow when the payment shows it: mostly at
/// once, later where the provider takes its time. Done once for each `idempotencyKey`: a repeat answers
/// the order as it stands and the header `Idempotency-Replayed`; after a `provider_error` the same request
/// goes on where it stopped, and a refusal by the provider uses up no key. Refunds that were requested and
/// do not show in the payment yet count. Of a bill that was paid in parts each payment gives back its own; what one
/// gave stays given where another is refused. A refusal for good is `already_refunded`, with the provider's words and in
/// `refundableCents` what can still be refunded. Of an order that is not paid, or cost nothing, nothing can be
/// refunded: `already_refunded` with `refundableCents` 0.
#[utoipa::path(
    post,
    path = "/api/v1/orders/{orderIdOrCheckoutId}/refund",
    tag = "Purchases",
    request_body = Request,
    responses((
        status = 200,
        description = "The order, refunded now or before",
        body = Order,
        headers(("Idempotency-Replayed" = String)),
    )),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "idempotency_key_reused", "already_refunded", "provider_not_configured", "provider_error"
    ])))
)]
pub(super) async fn refund_order(
    State(app): State<App>,
    key: SecretKey,
    order: OrderPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let Request {
        amount_cents,
        idempotency_key,
    } = body.parse()?;
    let name = header.or(idempotency_key)?;
    let cents = amount_cents.map(|BoundedInteger(cents)| cents);
    let order = order.id(&app, &key).await?;
    let project = (*key).clone();
    let refunded = app.payments.refund(project, order, cents, name);
    let refunded = refunded
        .await
        .map_err(|error| Error::from_instruction(error, &key))?;
    let order = view::order(&refunded.after, KeyKind::Secret);
    respond::replayable(&order, refunded.replayed)
}
