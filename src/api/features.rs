//! `POST /features`: unlocking a feature by hand, and taking that back.

use axum::{extract::State, response::Response};
use domain::{text::Feature, wallet::feature::FeatureAction};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    http::{
        Code, Error,
        auth::SecretKey,
        body::Body,
        field::Text,
        respond,
        subject::{self, required},
    },
    state::App,
};

/// A feature to unlock. The wallet is named by exactly one of `externalUserId` and `code`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SetFeature)]
pub(super) struct Request<'a> {
    /// The caller's own user id. Its wallet is created by a grant if there is none.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    external_user_id: Option<Text<'a>>,
    /// A recovery code.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    code: Option<Text<'a>>,
    /// A slug: 1 to 100 letters, digits and `. _ : -`
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false, min_length = 1, max_length = 100)]
    feature: Option<Text<'a>>,
    /// `grant` (also when left out) or `revoke`. Revoking takes only a manual unlock back: what a
    /// subscription or purchase unlocks stays.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, example = "grant")]
    action: Option<Text<'a>>,
}

/// What the wallet unlocks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Features {
    /// All features, sorted.
    features: Vec<String>,
}

/// Grant or revoke a feature
///
/// Revoking removes only a manual grant. Repeating a request changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/features",
    tag = "Wallets of both kinds",
    request_body = Request,
    responses((status = 200, description = "All features of the wallet", body = Features)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["conflicting_wallet", "wallet_not_found"]))),
)]
pub(super) async fn set_feature(
    State(app): State<App>,
    key: SecretKey,
    body: Body,
) -> Result<Response, Error> {
    let request: Request<'_> = body.parse()?;
    let wallet = subject::wallet(request.external_user_id.as_ref(), request.code.as_ref())?;
    let wallet = wallet.ok_or_else(|| Error::new(Code::ConflictingWallet))?;
    let feature = required(request.feature, "feature")?;
    let feature = Feature::new(feature.as_str()).map_err(|error| Error::text("feature", error))?;
    let action = match request.action.as_ref().map(Text::as_str) {
        None | Some("grant") => FeatureAction::Grant,
        Some("revoke") => FeatureAction::Revoke,
        Some(_) => {
            return Err(Error::invalid(
                "action",
                "action has to be grant or revoke.",
            ));
        }
    };
    let address = wallet.address()?;
    let features = app
        .handle
        .set_feature(&key.scope, &address, feature, action)
        .await;
    let features = features.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&Features { features })
}
