//! API keys: make, list, show, change, revoke.

use api_types::schema::KeyKind;
use axum::{Json, extract::State, http::StatusCode, response::Response};
use catalog::{KeyChange, NewKey};
use domain::catalog::{self as documents, ApiKey};
use edge::{Authorized, Read, body::Body};
use operator::{CreateKey, RevokeKey, UpdateKey};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{InstantText, NameText, Text, line},
};

use super::{
    key_view::{Key, Keys},
    path::Segments,
    run,
};
use crate::{
    admin::App,
    http::{
        etag::{IfMatch, tagged_as},
        patch::Field,
    },
};

/// A key to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewKey)]
pub(super) struct Create {
    /// What it may do.
    #[schema(value_type = KeyKind)]
    kind: documents::KeyKind,
    /// What its owners call it.
    name: Option<NameText>,
    /// From when on it is not to work any more: an instant to come. When left out, it works until it is revoked.
    expires_at: Option<InstantText>,
}

/// What to change of a key. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyChange)]
pub(super) struct Update {
    /// What its owners call it; null: nothing.
    #[schema(value_type = Option<NameText>)]
    #[serde(default)]
    name: Field<NameText>,
    /// From when on it is not to work any more: an instant to come; null: it works until it is revoked.
    #[schema(value_type = Option<InstantText>)]
    #[serde(default)]
    expires_at: Field<InstantText>,
}

pub(super) async fn create(
    caller: Authorized<CreateKey>,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<(StatusCode, Json<Key>), Error> {
    let Create {
        kind,
        name,
        expires_at,
    } = body.parse()?;
    let new = NewKey {
        kind,
        name: name.map(line),
        expires_at: expires_at.map(|Text(at)| at),
    };
    let project = app.catalog.project(path.project()?)?;
    let minted = run(&caller, &app, project, CreateKey(new)).await?;
    Ok((StatusCode::CREATED, Json(Key::from(minted))))
}

pub(super) async fn list(
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Keys>, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    Ok(Json(Keys {
        keys: catalog.keys().map(|key| Key::of(key, &catalog)).collect(),
    }))
}

pub(super) async fn show(
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
) -> Result<Response, Error> {
    shown(&app, &path, &known(&app, &path)?)
}

pub(super) async fn update(
    caller: Authorized<UpdateKey>,
    State(app): State<App>,
    path: Segments,
    if_match: IfMatch,
    body: Body,
) -> Result<Response, Error> {
    let Update { name, expires_at } = body.parse()?;
    let change = KeyChange {
        name: name.nullable().map(|name| name.map(line)),
        expires_at: expires_at.nullable().map(|end| end.map(|Text(at)| at)),
    };
    let _saving = app.edge.saving.lock().await;
    let before = known(&app, &path)?;
    if_match.check(&Key::from(&before))?;
    let project = app.catalog.project(path.project()?)?;
    let after = run(&caller, &app, project, UpdateKey(before.id, change)).await?;
    shown(&app, &path, &after)
}

fn known(app: &App, path: &Segments) -> Result<ApiKey, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    let key = catalog.key(&path.key()?).cloned();
    key.ok_or(Error::new(ErrorCode::KeyNotFound))
}

/// A key as it is shown. Its last use is no setting: it is no part of the version.
fn shown(app: &App, path: &Segments, key: &ApiKey) -> Result<Response, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    Ok(tagged_as(&Key::of(key, &catalog), &Key::from(key)))
}

pub(super) async fn revoke(
    caller: Authorized<RevokeKey>,
    State(app): State<App>,
    path: Segments,
) -> Result<StatusCode, Error> {
    let _saving = app.edge.saving.lock().await;
    let project = app.catalog.project(path.project()?)?;
    run(&caller, &app, project, RevokeKey(path.key()?)).await?;
    Ok(StatusCode::NO_CONTENT)
}
