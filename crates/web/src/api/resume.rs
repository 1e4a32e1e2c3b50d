//! `POST /subscriptions/resume`: resumes a subscription that would end with its period, or is paused.

use axum::{extract::State, response::Response};
use domain::wallet::resume::Resume;
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
    view::Subscription,
};

use super::cancel::instruct;
use crate::{
    api::App,
    http::{
        idempotency::KeyHeader,
        subject::{NamedWallet, SubscriptionChoice, WalletChoice, subscription},
    },
};

/// The subscription to resume. The wallet is named by exactly one of `externalUserId` and `code`; with a session both
/// may be left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResumeSubscription {
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
    /// Names the operation: it is done once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
}

/// The schema of the request: one of two fields names the wallet, and another the subscription.
type RequestSchema = SubscriptionChoice<WalletChoice<ResumeSubscription>>;

/// Resume a subscription
///
/// Takes back a cancellation at the end of the period, and a pause; a subscription that goes on anyway
/// stays as it is, and one that has ended is not found. Done once for each `idempotencyKey`: a repeat
/// answers the subscription as it stands and the header `Idempotency-Replayed`; after a
/// `provider_error` the same request goes on where it stopped.
#[utoipa::path(
    post,
    path = "/api/v1/subscriptions/resume",
    tag = "Purchases",
    request_body = RequestSchema,
    responses((
        status = 200,
        description = "The subscription, resumed now or before",
        body = Subscription,
        headers(("Idempotency-Replayed" = String)),
    )),
    security(("secret" = []), ("session" = [])),
    extensions(("x-errors" = json!([
        "conflicting_wallet", "wallet_not_found", "product_not_found", "subscription_not_found",
        "subscription_ambiguous", "idempotency_key_reused", "provider_not_configured", "provider_error"
    ])))
)]
pub(super) async fn resume_subscription(
    State(app): State<App>,
    key: SecretKeyOr<MaySubscriptions>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: ResumeSubscription = body.parse()?;
    let wallet = NamedWallet::of(request.external_user_id, request.code)?;
    let name = header.or(request.idempotency_key)?;
    let wallet = NamedWallet::needed_by(wallet, key.session())?;
    let resume = Resume {
        named: subscription(
            request.product_id.as_ref(),
            request.subscription_id.as_ref(),
            &key,
        )?,
        key: name,
    };
    instruct(&app, &key, wallet, SubscriptionInstruction::Resume(resume)).await
}
