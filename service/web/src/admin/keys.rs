//! API keys: make, list, show, revoke.

use axum::{Json, extract::State, http::StatusCode};
use domain::catalog;
use edge::{Authorized, Manage, Read, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{Error, ErrorCode};

use super::{
    path::Segments,
    view::{Key, KeyKind, Keys},
};
use crate::admin::App;

/// A key to make.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewKey)]
struct Create {
    /// What it may do.
    #[schema(value_type = KeyKind)]
    kind: catalog::KeyKind,
}

/// Make a key. A secret one is shown only here.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/keys",
    operation_id = "createKey",
    tag = "Keys",
    params(("projectId" = String, Path, description = "The project.")),
    request_body = Create,
    responses((status = 201, description = "Made.", body = Key)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn create(
    caller: Authorized<Manage>,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<(StatusCode, Json<Key>), Error> {
    let Create { kind } = body.parse()?;
    let minted = app.catalog.create_key(path.project()?, kind).await?;
    caller.did(format!("Created {kind:?} key {}", minted.key.id));
    Ok((StatusCode::CREATED, Json(Key::from(minted))))
}

/// List a project's keys, revoked ones too.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/keys",
    operation_id = "listKeys",
    tag = "Keys",
    params(("projectId" = String, Path, description = "The project.")),
    responses((status = 200, description = "All of them.", body = Keys)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn list(
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Keys>, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    Ok(Json(Keys {
        keys: catalog.keys().map(Key::from).collect(),
    }))
}

/// Show a key.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/keys/{keyId}",
    operation_id = "getKey",
    tag = "Keys",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("keyId" = String, Path, description = "The key's name, not the key.")
    ),
    responses((status = 200, description = "The key.", body = Key)),
    extensions(("x-errors" = json!(["project_not_found", "key_not_found"])))
)]
pub(super) async fn show(
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Key>, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    let key = catalog
        .key(&path.key()?)
        .ok_or(Error::new(ErrorCode::KeyNotFound))?;
    Ok(Json(Key::from(key)))
}

/// Revoke a key, for the next request and for good. Doing it again changes nothing.
#[utoipa::path(
    delete,
    path = "/projects/{projectId}/keys/{keyId}",
    operation_id = "revokeKey",
    tag = "Keys",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("keyId" = String, Path, description = "The key's name, not the key.")
    ),
    responses((status = 204, description = "Revoked.")),
    extensions(("x-errors" = json!(["project_not_found", "key_not_found"])))
)]
pub(super) async fn revoke(
    _: Authorized<Manage>,
    State(app): State<App>,
    path: Segments,
) -> Result<StatusCode, Error> {
    app.catalog.revoke_key(path.project()?, path.key()?).await?;
    Ok(StatusCode::NO_CONTENT)
}
