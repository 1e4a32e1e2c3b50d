//! `POST /subscriptions/cancel`: cancels a subscription, with its period or at once. `POST /subscriptions/resume`: resumes
//! one that would end with its period, or is paused.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use domain::wallet::{SubscriptionAction, SubscriptionInstruction};
use edge::{
    body::Body,
    caller::{MaySubscriptions, SecretKey},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{CodeText, KeyText, ProductName, SubscriptionName, UserText},
    respond, view,
};

use crate::{
    api::App,
    http::{
        idempotency::KeyHeader,
        subject::{NamedWallet, subscription},
    },
};

/// The subscription to cancel. The wallet is named by exactly one of `externalUserId` and `code`; with a session both
/// may be left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelSubscription {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    /// The product that is subscribed to: it names the subscription to it that goes on. Left out where `subscriptionId`
    /// names the subscription.
    product_id: Option<ProductName>,
    /// The subscription, by the `id` that the wallet shows: of several to one product only this names one.
    subscription_id: Option<SubscriptionName>,
    /// Whether it ends with its period, and can be resumed until then, rather than at once; true when left
    /// out.
    at_period_end: Option<bool>,
    /// Names the operation: it is done once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
}

/// The subscription to resume. The wallet is named by exactly one of `externalUserId` and `code`; with a session both
/// may be left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResumeSubscription {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    /// The product that is subscribed to: it names the subscription to it that goes on. Left out where `subscriptionId`
    /// names the subscription.
    product_id: Option<ProductName>,
    /// The subscription, by the `id` that the wallet shows: of several to one product only this names one.
    subscription_id: Option<SubscriptionName>,
    /// Names the operation: it is done once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
}

pub(super) async fn cancel_subscription(
    State(app): State<App>,
    key: SecretKey<MaySubscriptions>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let CancelSubscription {
        external_user_id,
        code,
        product_id,
        subscription_id,
        at_period_end,
        idempotency_key,
    } = body.parse()?;
    let request = ResumeSubscription {
        external_user_id,
        code,
        product_id,
        subscription_id,
        idempotency_key,
    };
    let at_period_end = at_period_end.unwrap_or(true);
    let cancel = SubscriptionAction::Cancel { at_period_end };
    instruct(&app, &key, &header, request, cancel).await
}

pub(super) async fn resume_subscription(
    State(app): State<App>,
    key: SecretKey<MaySubscriptions>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request = body.parse()?;
    instruct(&app, &key, &header, request, SubscriptionAction::Resume).await
}

/// Does it, and answers the subscription as it is then.
async fn instruct(
    app: &App,
    key: &SecretKey<MaySubscriptions>,
    header: &KeyHeader,
    request: ResumeSubscription,
    action: SubscriptionAction,
) -> Result<Response, Error> {
    let wallet = NamedWallet::of(request.external_user_id, request.code)?;
    let name = header.or(request.idempotency_key)?;
    let wallet = NamedWallet::needed_by(wallet, key.session())?;
    let (product, id) = (request.product_id, request.subscription_id);
    let instruction = SubscriptionInstruction {
        named: subscription(product.as_ref(), id.as_ref(), key)?,
        action,
        key: name,
    };
    let result = app
        .payments
        .instruct(Arc::clone(key), wallet.into_address()?, instruction)
        .await
        .map_err(|error| Error::from_instruction(error, key))?;
    respond::replayable(&view::subscription(&result.after), result.replayed)
}
