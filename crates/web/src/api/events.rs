//! `GET /events`: what happened in a project, oldest first, for servers that no webhook reaches.

use actors::event_number;
use axum::{extract::State, response::Response};
use domain::id::EventId;
use edge::caller::{MayReadAll, SecretKey};
use serde::Deserialize;
use wire::{
    Error, ErrorCode,
    field::{EventName, EventType, EventTypesText, LimitText, Text},
    respond,
    view::{self, Events},
};

use crate::{api::App, http::query::Params};

/// Most events that one request looks at to find those of the types that it asks for.
const LOOKED_AT: usize = 10_000;

/// Which events to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// Only those after this one: a `nextCursor`, or an event's identifier. Without it, from the oldest
    /// that is kept.
    #[param(inline)]
    after: Option<EventName>,
    /// Only events of these types.
    #[param(inline)]
    types: Option<EventTypesText>,
    /// Events on a page.
    #[param(inline)]
    limit: Option<LimitText>,
}

pub(super) async fn list_events(
    State(app): State<App>,
    key: SecretKey<MayReadAll>,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    let limit = part.limit.map_or_else(Default::default, |limit| limit.0).0;
    let unknown = || Error::new(ErrorCode::EventNotFound);
    let after: Option<EventId> = part.after.map(|Text(after)| after);
    let refused = |error| Error::from_wallet(error, &key);
    let types = part.types.map(|Text(types)| types.0);
    let wanted = |record: &actors::EventRecord| {
        let kind = EventType::of(&record.project_event.data);
        types.as_ref().is_none_or(|types| types.contains(&kind))
    };
    let at_once = if types.is_some() { 1000 } else { limit };
    let mut events = Vec::new();
    let mut page = app.handle.events_after(&key.scope, after, at_once).await;
    let (mut looked_at, mut last) = (0_usize, after);
    loop {
        let records = page.map_err(refused)?.ok_or_else(unknown)?;
        looked_at = looked_at.saturating_add(records.len());
        let end = records.last().map(|record| record.id);
        for record in records.iter().filter(|record| wanted(record)) {
            if events.len() == limit {
                break;
            }
            events.push(view::event(record, &app.handle, key.sees_codes()));
            last = Some(record.id);
        }
        let Some(end) = end else { break };
        if events.len() == limit {
            break;
        }
        if looked_at >= LOOKED_AT {
            // There may be more: the next page goes on after what was looked at.
            last = Some(end);
            break;
        }
        let next = app
            .handle
            .events_from(&key.scope, event_number(end), at_once)
            .await;
        page = next.map(Some);
    }
    respond::json(&Events::new(events, last.map(|last| last.to_string())))
}
