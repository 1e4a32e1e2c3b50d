//! `/wallets/external/limits` and `/wallets/{code}/limits`: how much may be used of one wallet.

use actors::Address;
use api_types::Limits;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{limit::LimitState, wallet::limits::SetLimits};
use edge::{
    body::Body,
    caller::{AnyKey, MayLimits, MayRead, SecretKey},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{MemberText, Object, Text, UserText},
    respond, view,
};

use super::{App, read::UserQuery};
use crate::http::{
    code_path::CodePath,
    limits::{LimitFields, limits},
    query::{Both, Params},
    subject::{NamedWallet, Unknown, users_wallet},
};

/// The limits of one wallet.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(bound = "")]
pub(super) struct PutLimits<U = Unknown> {
    #[schema(ignore)]
    #[serde(default)]
    external_user_id: U,
    /// All of the wallet's own limits, in place of those that it had; at most 50.
    #[schema(value_type = Vec<LimitFields>, max_items = 50)]
    limits: Vec<Object<LimitFields>>,
}

/// Whose limits to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct MemberQuery {
    /// The member whose use to count where a limit is about each.
    #[param(inline)]
    member: Option<MemberText>,
}

pub(super) async fn put_external_limits(
    State(app): State<App>,
    key: SecretKey<MayLimits>,
    body: Body,
) -> Result<Response, Error> {
    let request: PutLimits<Option<UserText>> = body.parse()?;
    let user = request.external_user_id;
    let Text(user) = user.ok_or_else(|| Error::missing("externalUserId"))?;
    let set = limits(request.limits, &key)?;
    put(&app, &key, &Address::External(user).into(), set).await
}

pub(super) async fn put_limits(
    State(app): State<App>,
    key: SecretKey<MayLimits>,
    code: CodePath,
    body: Body,
) -> Result<Response, Error> {
    let request: PutLimits = body.parse()?;
    let set = limits(request.limits, &key)?;
    put(&app, &key, &code.into(), set).await
}

async fn put(
    app: &App,
    project: &ProjectCatalog,
    wallet: &NamedWallet,
    limits: Vec<domain::limit::Limit>,
) -> Result<Response, Error> {
    let (scope, address) = (&project.scope, wallet.address()?);
    let states = app
        .handle
        .set_limits(scope, address, SetLimits(limits))
        .await;
    answer(states, wallet, project)
}

pub(super) async fn read_external_limits(
    State(app): State<App>,
    key: SecretKey<MayRead>,
    Params(Both(user, of)): Params<Both<UserQuery, MemberQuery>>,
) -> Result<Response, Error> {
    let address = users_wallet(user.external_user_id, key.session())?;
    read(&app, &key, &address.into(), of).await
}

pub(super) async fn read_limits(
    State(app): State<App>,
    key: AnyKey<MayRead>,
    code: CodePath,
    Params(of): Params<MemberQuery>,
) -> Result<Response, Error> {
    read(&app, &key, &code.into(), of).await
}

async fn read(
    app: &App,
    project: &ProjectCatalog,
    wallet: &NamedWallet,
    of: MemberQuery,
) -> Result<Response, Error> {
    let member = of.member.map(|Text(member)| member);
    let (scope, address) = (&project.scope, wallet.address()?);
    let states = app.handle.limits(scope, address, member).await;
    answer(states, wallet, project)
}

fn answer(
    states: Result<Vec<LimitState>, actors::Error>,
    wallet: &NamedWallet,
    project: &ProjectCatalog,
) -> Result<Response, Error> {
    let states = states.map_err(|error| wallet.refused(error, project))?;
    respond::json(&Limits {
        limits: states.iter().map(view::limit_state).collect(),
    })
}
