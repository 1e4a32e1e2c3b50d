//! `POST /features`: unlocking a feature by hand, and taking that back.

use axum::{extract::State, response::Response};
use domain::wallet::feature::FeatureAction;
use edge::{
    body::Body,
    caller::{MayFeatures, SecretKey},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error,
    field::{CodeText, FeatureActionText, FeatureText, Text, UserText},
    respond,
};

use crate::{api::App, http::subject::NamedWallet};

/// A feature to unlock. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
/// created by a grant if there is none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetFeature {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    /// The feature's slug.
    feature: FeatureText,
    /// `grant` when left out. Revoking takes only a manual unlock back: what a subscription or
    /// purchase unlocks stays.
    action: Option<FeatureActionText>,
}

/// The features that the wallet unlocks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Features {
    /// All features, sorted.
    features: Vec<String>,
}

pub(super) async fn set_feature(
    State(app): State<App>,
    key: SecretKey<MayFeatures>,
    body: Body,
) -> Result<Response, Error> {
    let request: SetFeature = body.parse()?;
    let wallet = NamedWallet::one_of(request.external_user_id, request.code)?;
    let Text(feature) = request.feature;
    let action = request
        .action
        .map_or(FeatureAction::Grant, |Text(action)| action);
    let address = wallet.into_address()?;
    let features = app
        .handle
        .set_feature(&key.scope, &address, feature, action)
        .await;
    let features = features.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&Features { features })
}
