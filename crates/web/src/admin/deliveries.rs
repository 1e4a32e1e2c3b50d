//! Deliveries to a webhook endpoint: list them, send them again.

use axum::{Json, extract::State, http::StatusCode};
use edge::{Authorized, Read, body::Body};
use operator::{ReplayDelivery, ReplayEvents};
use outbound::webhooks::Status;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{DeliveryName, InstantText, LimitText, Text},
};

use super::{
    path::Segments,
    run,
    webhook_view::{Deliveries, Delivery, Replayed},
};
use crate::{admin::App, http::query::Params};

/// Which part of the list to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// Deliveries on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<DeliveryName>,
    /// Only deliveries with this status.
    #[param(inline)]
    status: Option<WantedStatus>,
}

/// The status of the deliveries to list.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum WantedStatus {
    /// Those that will be tried again.
    Pending,
    /// Those that were accepted.
    Succeeded,
    /// Those that failed.
    Failed,
}

impl From<WantedStatus> for Status {
    fn from(status: WantedStatus) -> Self {
        match status {
            WantedStatus::Pending => Self::Pending,
            WantedStatus::Succeeded => Self::Succeeded,
            WantedStatus::Failed => Self::Failed,
        }
    }
}

/// Which events to send again.
#[derive(Deserialize, ToSchema)]
#[schema(as = Replay)]
pub(super) struct Replay {
    /// Events that happened or were recorded then or later.
    since: InstantText,
}

pub(super) async fn list(
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
    Params(part): Params<PageQuery>,
) -> Result<Json<Deliveries>, Error> {
    let limit = part.limit.map_or_else(Default::default, |limit| limit.0).0;
    let before = part.cursor.map(|Text(before)| before);
    let catalog = app.catalog.project(path.project()?)?;
    let endpoint = catalog.endpoint(&path.webhook()?);
    let endpoint = endpoint.ok_or(Error::new(ErrorCode::WebhookNotFound))?;
    // One more than asked for tells whether there is another page.
    let more = limit.saturating_add(1);
    let mut page =
        app.webhooks
            .deliveries(endpoint.id, before, more, part.status.map(Status::from));
    let is_last = page.len() <= limit;
    page.truncate(limit);
    let last = page.last().filter(|_| !is_last);
    Ok(Json(Deliveries {
        next_cursor: last.map(|last| last.id.to_string()),
        deliveries: page.iter().map(|it| Delivery::of(it, endpoint)).collect(),
    }))
}

pub(super) async fn replay(
    caller: Authorized<ReplayDelivery>,
    State(app): State<App>,
    path: Segments,
) -> Result<(StatusCode, Json<Delivery>), Error> {
    let catalog = app.catalog.project(path.project()?)?;
    let endpoint = catalog.endpoint(&path.webhook()?);
    let endpoint = endpoint.ok_or(Error::new(ErrorCode::WebhookNotFound))?;
    let replay = ReplayDelivery(endpoint.id, path.delivery()?);
    let delivery = run(&caller, &app, catalog.clone(), replay).await?;
    Ok((
        StatusCode::ACCEPTED,
        Json(Delivery::of(&delivery, endpoint)),
    ))
}

pub(super) async fn replay_since(
    caller: Authorized<ReplayEvents>,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<(StatusCode, Json<Replayed>), Error> {
    let Replay { since } = body.parse()?;
    let project = app.catalog.project(path.project()?)?;
    let replay = ReplayEvents(path.webhook()?, since.0);
    let count = run(&caller, &app, project, replay).await?;
    Ok((StatusCode::ACCEPTED, Json(Replayed { count })))
}
