//! Webhook endpoints: make, list, show, change, delete, and give a new secret.

use axum::{Json, http::StatusCode, response::Response};
use catalog::{EndpointChange, NewEndpoint};
use domain::catalog::MAX_EVENTS;
use edge::{Read, body::Body};
use operator::{CreateEndpoint, DeleteEndpoint, RotateSecret, TestEndpoint, UpdateEndpoint};
use outbound::webhooks::TEST_EVENT;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{EventTypeText, Text},
};

use super::{
    call::AdminCall,
    webhook_view::{CreatedWebhook, TestedWebhook, Webhook, WebhookSecret, Webhooks},
};
use crate::{
    admin::App,
    http::{
        etag::{IfMatch, tagged, tagged_as},
        patch::Field,
    },
};

/// An endpoint to create.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewWebhook)]
pub(super) struct Create {
    /// Where to send events to: `https`, and a public address unless the operator allows others.
    #[schema(
        pattern = "^https?://[!-~]+$",
        max_length = 2048,
        example = "https://shop.example/hooks"
    )]
    url: String,
    /// The kinds of events that it wants; all when left out.
    #[schema(min_items = 1, max_items = 50)]
    events: Option<Vec<EventTypeText>>,
}

/// What to change of an endpoint. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[schema(as = WebhookChange)]
pub(super) struct Update {
    /// Where to send events to: `https`, and a public address unless the operator allows others.
    #[schema(value_type = Option<String>, nullable = false, pattern = "^https?://[!-~]+$", max_length = 2048, example = "https://shop.example/hooks")]
    #[serde(default)]
    url: Field<String>,
    /// The kinds of events that it wants; null: all.
    #[schema(value_type = Option<Vec<EventTypeText>>, min_items = 1, max_items = 50)]
    #[serde(default)]
    events: Field<Vec<EventTypeText>>,
    /// Whether events are sent to it. One that is made active goes on where it stopped.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    active: Field<bool>,
}

pub(super) async fn create(
    call: AdminCall<CreateEndpoint>,
    body: Body,
) -> Result<(StatusCode, Json<CreatedWebhook>), Error> {
    let Create { url, events } = body.parse()?;
    let new = NewEndpoint {
        url: address(&call.app, &url)?,
        events: events.map(kinds).transpose()?,
    };
    let project = call.project()?;
    let minted = call.run(project, CreateEndpoint(new)).await?;
    Ok((StatusCode::CREATED, Json(minted.into())))
}

pub(super) async fn list(call: AdminCall<Read>) -> Result<Json<Webhooks>, Error> {
    let catalog = call.project()?;
    Ok(Json(Webhooks {
        webhooks: catalog
            .endpoints()
            .map(|endpoint| Webhook::watched(endpoint, &call.app.webhooks))
            .collect(),
    }))
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Response, Error> {
    let catalog = call.project()?;
    let endpoint = catalog.endpoint(&call.path.webhook()?);
    let endpoint = endpoint.ok_or(Error::new(ErrorCode::WebhookNotFound))?;
    // How it does is no setting: it is no part of the version.
    let version = Webhook::from(endpoint);
    Ok(tagged_as(
        &Webhook::watched(endpoint, &call.app.webhooks),
        &version,
    ))
}

fn current<P>(call: &AdminCall<P>) -> Result<Webhook, Error> {
    let catalog = call.project()?;
    let endpoint = catalog.endpoint(&call.path.webhook()?);
    Ok(endpoint
        .ok_or(Error::new(ErrorCode::WebhookNotFound))?
        .into())
}

pub(super) async fn update(
    call: AdminCall<UpdateEndpoint>,
    if_match: IfMatch,
    body: Body,
) -> Result<Response, Error> {
    let update: Update = body.parse()?;
    let url = update.url.not_null("url")?;
    let events = update.events.nullable();
    let change = EndpointChange {
        url: url.map(|url| address(&call.app, &url)).transpose()?,
        events: events
            .map(|events| events.map(kinds).transpose())
            .transpose()?,
        active: update.active.not_null("active")?,
    };
    let _saving = call.app.edge.saving.lock().await;
    let before = current(&call)?;
    if_match.check(&before)?;
    let project = call.project()?;
    let update = UpdateEndpoint(call.path.webhook()?, change);
    let endpoint = call.run(project, update).await?;
    Ok(tagged(&Webhook::from(&endpoint)))
}

pub(super) async fn delete(call: AdminCall<DeleteEndpoint>) -> Result<StatusCode, Error> {
    let project = call.project()?;
    call.run(project, DeleteEndpoint(call.path.webhook()?))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn rotate_secret(
    call: AdminCall<RotateSecret>,
) -> Result<Json<WebhookSecret>, Error> {
    let project = call.project()?;
    let minted = call
        .run(project, RotateSecret(call.path.webhook()?))
        .await?;
    Ok(Json(minted.into()))
}

/// A test event to send.
#[derive(Deserialize, ToSchema)]
#[schema(as = TestWebhook)]
pub(super) struct Test {
    /// The type that it names; `webhook.test` when left out.
    #[serde(rename = "type")]
    kind: Option<EventTypeText>,
}

pub(super) async fn test(
    call: AdminCall<TestEndpoint>,
    body: Body,
) -> Result<Json<TestedWebhook>, Error> {
    let Test { kind } = body.parse()?;
    let project = call.project()?;
    let kind = kind.map_or(TEST_EVENT, |Text(kind)| kind.as_str());
    let test = TestEndpoint(call.path.webhook()?, kind);
    Ok(Json(call.run(project, test).await?.into()))
}

/// An endpoint's address in the form in which it will be opened.
fn address(app: &App, typed: &str) -> Result<String, Error> {
    let read = app.webhooks.reach().read(typed);
    read.map(Into::into)
        .map_err(|forbidden| Error::invalid("url", forbidden.to_string()))
}

/// The types of events, each once; repeated ones count towards the most that a body may name.
fn kinds(events: Vec<EventTypeText>) -> Result<Vec<String>, Error> {
    if events.len() > MAX_EVENTS {
        let message = format!("At most {MAX_EVENTS} kinds of events can be named.");
        return Err(Error::invalid("events", message));
    }
    let mut kinds: Vec<_> = events.into_iter().map(|Text(kind)| kind).collect();
    kinds.sort();
    kinds.dedup();
    Ok(kinds.iter().map(|kind| kind.as_str().to_owned()).collect())
}
