//! `POST /subscriptions/cancel`: cancels a subscription, with its period or at once.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::wallet::cancel::Cancel;
use edge::{
    body::Body,
    caller::{MaySubscriptions, SecretKeyOr},
};
use payments::SubscriptionInstruction;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{CodeText, KeyText, ProductName, SubscriptionName, UserText},
    respond,
    view::{self, Subscription},
};

use crate::{
    api::App,
    http::{
        idempotency::KeyHeader,
        subject::{NamedWallet, SubscriptionChoice, WalletChoice, subscription},
    },
};

/// The subscription to cancel. The wallet is named by exactly one of `externalUserId` and `code`; with a session both
/// may be left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CancelSubscription {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    /// The product that is subscribed to: it names the subscription to it that goes on. Left out where `subscriptionId`
    /// names the subscription.
    #[schema(value_type = Option<ProductName>)]
    product_id: Option<ProductName>,
    /// The subscription, by the `id` that the wallet shows: of several to one product only this names one.
    #[schema(value_type = Option<SubscriptionName>)]
    subscription_id: Option<SubscriptionName>,
    /// Whether it ends with its period, and can be resumed until then, rather than at once; true when left
    /// out.
    at_period_end: Option<bool>,
    /// Names the operation: it is done once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
}

/// The schema of the request: one of two fields names the wallet, and another the subscription.
type RequestSchema = SubscriptionChoice<WalletChoice<CancelSubscription>>;

/// Cancel a subscription
///
/// What is left of its credits expires when it ends, unless they roll over. Done once for each
/// `idempotencyKey`: a repeat answers the subscription as it stands, `canceled` when it is over, and the
/// header `Idempotency-Replayed`; after a `provider_error` the same request goes on where it stopped.
#[utoipa::path(
    post,
    path = "/api/v1/subscriptions/cancel",
    tag = "Purchases",
    request_body = RequestSchema,
    responses((
        status = 200,
        description = "The subscription, canceled now or before",
        body = Subscription,
        headers(("Idempotency-Replayed" = String)),
    )),
    security(("secret" = []), ("session" = [])),
    extensions(("x-errors" = json!([
        "conflicting_wallet", "wallet_not_found", "product_not_found", "subscription_not_found",
        "subscription_ambiguous", "idempotency_key_reused", "provider_not_configured", "provider_error"
    ])))
)]
pub(super) async fn cancel_subscription(
    State(app): State<App>,
    key: SecretKeyOr<MaySubscriptions>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: CancelSubscription = body.parse()?;
    let wallet = NamedWallet::of(request.external_user_id, request.code)?;
    let name = header.or(request.idempotency_key)?;
    let wallet = NamedWallet::needed_by(wallet, key.session())?;
    let cancel = Cancel {
        named: subscription(
            request.product_id.as_ref(),
            request.subscription_id.as_ref(),
            &key,
        )?,
        at_period_end: request.at_period_end.unwrap_or(true),
        key: name,
    };
    instruct(&app, &key, wallet, SubscriptionInstruction::Cancel(cancel)).await
}

/// Carries out a cancellation or resumption, and answers the subscription as it is then.
pub(super) async fn instruct(
    app: &App,
    key: &Arc<ProjectCatalog>,
    wallet: NamedWallet,
    instruction: SubscriptionInstruction,
) -> Result<Response, Error> {
    let project = Arc::clone(key);
    let result = app
        .payments
        .instruct(project, wallet.into_address()?, instruction)
        .await
        .map_err(|error| Error::from_instruction(error, key))?;
    let subscription = view::subscription(&result.after);
    respond::replayable(&subscription, result.replayed)
}
