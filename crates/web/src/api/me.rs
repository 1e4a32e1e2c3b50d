//! `GET /me`: a key's project and kind.

use axum::response::Response;
use domain::{
    catalog::{KeyKind, Mode},
    session::Permission,
    text::ExternalUserId,
};
use edge::caller::{AnyKeyOr, MayRead};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Error, respond, view::Instant};

/// Whose key or session it is.
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
    /// `publishable`, `secret` or `session`
    #[schema(example = "publishable")]
    key_kind: &'static str,
    /// The key's identifier: `key_…`; left out for a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    /// The session; left out for a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Session<'a>>,
}

/// A session of a wallet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Session<'a> {
    /// The caller's own id of the user; null where a recovery code opens the wallet.
    #[schema(required = true)]
    external_user_id: Option<&'a str>,
    /// What it may do: `read`, `checkout`, `portal`, `subscriptions`
    can: Vec<&'static str>,
    /// When it ends.
    expires_at: Instant,
}

/// Identify a key
///
/// The project that the key belongs to, and what kind of key it is.
#[utoipa::path(
    get,
    path = "/api/v1/me",
    tag = "Catalog",
    responses((status = 200, description = "The key's project", body = Identity)),
    security(("publishable" = []), ("secret" = []), ("session" = []))
)]
pub(super) async fn me(key: AnyKeyOr<MayRead>) -> Result<Response, Error> {
    let project = &key.project;
    let session = key.session();
    respond::json(&Identity {
        project_id: project.id.to_string(),
        project: &project.name,
        mode: project.mode,
        key_kind: match (session, key.kind()) {
            (Some(_), _) => "session",
            (None, KeyKind::Publishable) => "publishable",
            (None, KeyKind::Secret) => "secret",
        },
        key_id: session
            .is_none()
            .then(|| key.caller().key().key.to_string()),
        session: session.map(|session| Session {
            external_user_id: session.user().map(ExternalUserId::as_str),
            can: session.can.iter().map(Permission::as_str).collect(),
            expires_at: Instant(session.expires_at),
        }),
    })
}
