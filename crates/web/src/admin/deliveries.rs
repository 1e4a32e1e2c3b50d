//! Deliveries to a webhook endpoint: list them, send them again.

use axum::{Json, http::StatusCode};
use edge::{Read, body::Body};
use operator::{ReplayDelivery, ReplayEvents};
use outbound::webhooks::Status;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{DeliveryName, InstantText, LimitText, Text},
};

use super::{
    call::AdminCall,
    webhook_view::{Deliveries, Delivery, Replayed},
};
use crate::http::query::Params;

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
    call: AdminCall<Read>,
    Params(part): Params<PageQuery>,
) -> Result<Json<Deliveries>, Error> {
    let limit = part.limit.map_or_else(Default::default, |limit| limit.0).0;
    let before = part.cursor.map(|Text(before)| before);
    let catalog = call.project()?;
    let endpoint = catalog.endpoint(&call.path.webhook()?);
    let endpoint = endpoint.ok_or(Error::new(ErrorCode::WebhookNotFound))?;
    // One more than asked for tells whether there is another page.
    let more = limit.saturating_add(1);
    let mut page =
        call.app
            .webhooks
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
    call: AdminCall<ReplayDelivery>,
) -> Result<(StatusCode, Json<Delivery>), Error> {
    let catalog = call.project()?;
    let endpoint = catalog.endpoint(&call.path.webhook()?);
    let endpoint = endpoint.ok_or(Error::new(ErrorCode::WebhookNotFound))?;
    let replay = ReplayDelivery(endpoint.id, call.path.delivery()?);
    let delivery = call.run(catalog.clone(), replay).await?;
    Ok((
        StatusCode::ACCEPTED,
        Json(Delivery::of(&delivery, endpoint)),
    ))
}

pub(super) async fn replay_since(
    call: AdminCall<ReplayEvents>,
    body: Body,
) -> Result<(StatusCode, Json<Replayed>), Error> {
    let Replay { since } = body.parse()?;
    let project = call.project()?;
    let replay = ReplayEvents(call.path.webhook()?, since.0);
    let count = call.run(project, replay).await?;
    Ok((StatusCode::ACCEPTED, Json(Replayed { count })))
}
