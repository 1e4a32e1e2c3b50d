//! API keys: make, list, show, change, revoke.

use std::collections::BTreeSet;

use api_types::schema::{KeyAbility, KeyKind};
use axum::{Json, http::StatusCode, response::Response};
use catalog::{KeyChange, NewKey};
use domain::catalog::{self as documents, Ability, ApiKey};
use edge::{Read, body::Body};
use operator::{CreateKey, RevokeKey, UpdateKey};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{InstantText, NameText, Text, line},
};

use super::{
    call::AdminCall,
    key_view::{Key, Keys},
};
use crate::http::{
    etag::{IfMatch, tagged_as},
    patch::Field,
};

/// A key to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewKey)]
pub(super) struct Create {
    /// What it may do.
    #[schema(value_type = KeyKind)]
    kind: documents::KeyKind,
    /// What a restricted key may do; left out for the others.
    #[schema(value_type = Option<Vec<KeyAbility>>)]
    #[serde(default)]
    can: BTreeSet<Ability>,
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
    call: AdminCall<CreateKey>,
    body: Body,
) -> Result<(StatusCode, Json<Key>), Error> {
    let Create {
        kind,
        can,
        name,
        expires_at,
    } = body.parse()?;
    let new = NewKey {
        kind,
        can,
        name: name.map(line),
        expires_at: expires_at.map(|Text(at)| at),
    };
    let project = call.project()?;
    let minted = call.run(project, CreateKey(new)).await?;
    Ok((StatusCode::CREATED, Json(Key::from(minted))))
}

pub(super) async fn list(call: AdminCall<Read>) -> Result<Json<Keys>, Error> {
    let catalog = call.project()?;
    Ok(Json(Keys {
        keys: catalog.keys().map(|key| Key::of(key, &catalog)).collect(),
    }))
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Response, Error> {
    shown(&call, &known(&call)?)
}

pub(super) async fn update(
    call: AdminCall<UpdateKey>,
    if_match: IfMatch,
    body: Body,
) -> Result<Response, Error> {
    let Update { name, expires_at } = body.parse()?;
    let change = KeyChange {
        name: name.nullable().map(|name| name.map(line)),
        expires_at: expires_at.nullable().map(|end| end.map(|Text(at)| at)),
    };
    let _saving = call.app.edge.saving.lock().await;
    let before = known(&call)?;
    if_match.check(&Key::from(&before))?;
    let project = call.project()?;
    let after = call.run(project, UpdateKey(before.id, change)).await?;
    shown(&call, &after)
}

fn known<P>(call: &AdminCall<P>) -> Result<ApiKey, Error> {
    let catalog = call.project()?;
    let key = catalog.key(&call.path.key()?).cloned();
    key.ok_or(Error::new(ErrorCode::KeyNotFound))
}

/// A key as it is shown. Its last use is no setting: it is no part of the version.
fn shown<P>(call: &AdminCall<P>, key: &ApiKey) -> Result<Response, Error> {
    let catalog = call.project()?;
    Ok(tagged_as(&Key::of(key, &catalog), &Key::from(key)))
}

pub(super) async fn revoke(call: AdminCall<RevokeKey>) -> Result<StatusCode, Error> {
    let _saving = call.app.edge.saving.lock().await;
    let project = call.project()?;
    call.run(project, RevokeKey(call.path.key()?)).await?;
    Ok(StatusCode::NO_CONTENT)
}
