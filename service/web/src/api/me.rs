//! `GET /me`: a key's project and kind.

use axum::response::Response;
use domain::catalog::{KeyKind, Mode};
use edge::auth::AnyKey;
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Error, respond};

/// A key's project and kind.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Identity<'a> {
    /// The project's identifier: `proj_…`
    project_id: String,
    /// The project's name.
    project: &'a str,
    /// `credit_codes` or `external_users`
    #[schema(value_type = String, example = "credit_codes")]
    mode: Mode,
    /// `publishable` or `secret`
    #[schema(value_type = String, example = "publishable")]
    key_kind: KeyKind,
}

/// Identify a key
///
/// The project that the key belongs to, and what kind of key it is.
#[utoipa::path(
    get,
    path = "/api/v1/me",
    tag = "Catalog",
    responses((status = 200, description = "The key's project", body = Identity)),
    security(("publishable" = []), ("secret" = [])),
)]
pub(super) async fn me(key: AnyKey) -> Result<Response, Error> {
    let project = &key.project;
    respond::json(&Identity {
        project_id: project.id.to_string(),
        project: &project.name,
        mode: project.mode,
        key_kind: key.kind(),
    })
}
