//! `POST /subscriptions/cancel`: cancels a subscription, with its period or at once.

use axum::{extract::State, response::Response};
use domain::wallet::cancel::Cancel;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    http::{
        Body, Error, SecretKey,
        field::{KeyText, ProductName},
        idempotency::KeyHeader,
        respond,
        subject::{self, ForWallet},
        view::Subscription,
    },
    state::App,
};

/// The subscription to cancel. The wallet is named by exactly one of `externalUserId` and `code`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelSubscription {
    /// The product that is subscribed to.
    product_id: ProductName,
    /// Whether it ends with its period, and can be resumed until then, rather than at once; true when left
    /// out.
    at_period_end: Option<bool>,
    /// Names the operation: it is done once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
}

/// The body also names the wallet.
type Request = ForWallet<CancelSubscription>;

/// Cancel a subscription
///
/// What is left of its credits expires when it ends, unless they roll over. Done once for each
/// `idempotencyKey`: a repeat answers the subscription as it stands, `canceled` when it is over, and the
/// header `Idempotency-Replayed`; after a `provider_error` the same request goes on where it stopped.
#[utoipa::path(
    post,
    path = "/api/v1/subscriptions/cancel",
    tag = "Purchases",
    request_body = Request,
    responses((
        status = 200,
        description = "The subscription, canceled now or before",
        body = Subscription,
        headers(("Idempotency-Replayed" = String)),
    )),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "conflicting_wallet", "wallet_not_found", "product_not_found", "subscription_not_found",
        "idempotency_key_reused", "provider_not_configured", "provider_error"
    ]))),
)]
pub(super) async fn cancel_subscription(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let (wallet, asked) = body.parse::<Request>()?.named()?;
    let name = header.or(asked.idempotency_key)?;
    let cancel = Cancel {
        product: subject::product(&asked.product_id, &key)?,
        at_period_end: asked.at_period_end.unwrap_or(true),
        key: name,
    };
    let payments = &app.payments;
    let canceled = payments.cancel((*key).clone(), wallet.address()?, cancel);
    let canceled = canceled
        .await
        .map_err(|error| Error::from_instruction(error, &key))?;
    let subscription = Subscription::from(&canceled.subscription);
    respond::replayable(&subscription, canceled.replayed)
}
