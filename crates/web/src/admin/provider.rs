//! Checks whether a project's payment provider can be called with its key.

use accounts::KeyCheck;
use axum::Json;
use edge::Manage;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::Error;

use super::call::AdminCall;

/// The result of calling a payment provider.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderCheck {
    /// Whether its key works; null: the provider could not be reached, or needs none.
    pub works: Option<bool>,
    /// Where it does not work: why, in the provider's own words.
    pub reason: Option<String>,
    /// Permissions that the key lacks, as the provider names them: what needs them is not done.
    pub missing_permissions: Vec<String>,
    /// The provider's page on which a key with all of them is made; null: it needs none.
    pub new_key_url: Option<String>,
}

pub(super) async fn check(call: AdminCall<Manage>) -> Result<Json<ProviderCheck>, Error> {
    let project = call.project()?;
    let (works, reason, missing_permissions) = match call.app.accounts.check(&project).await {
        Some(Ok(KeyCheck::Works { missing, .. })) => (Some(true), None, missing),
        Some(Ok(KeyCheck::Unreachable)) | None => (None, None, Vec::new()),
        Some(Err(reason)) => (Some(false), Some(reason), Vec::new()),
    };
    Ok(Json(ProviderCheck {
        works,
        reason,
        missing_permissions,
        new_key_url: call.app.accounts.key_link(&project),
    }))
}
