//! The audit log: who did what, filtered; as JSON or as comma-separated values.

use axum::{
    Json,
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use domain::id::ProjectId;
use edge::Own;
use operations::{
    audit::AuditEntry,
    audit_csv,
    audit_search::{AuditCursor, AuditFilter},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{FromText, InstantText, LimitText, ObjectBuilder, SearchText, Text, line},
    view::instant,
};

use super::call::AdminCall;
use crate::http::query::Params;

/// Which entries to list; all that agree with everything that is set.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct Filter {
    /// A part of the actor, in any case.
    #[param(inline)]
    actor: Option<SearchText>,
    /// The project that it was about. One that does not exist has no entries.
    project_id: Option<String>,
    /// The area of the change: `people`, `projects`, `catalog`, `keys`, `webhooks`, `wallets`, `orders`, `payments`, `server`.
    kind: Option<String>,
    /// The first instant.
    #[param(inline)]
    from: Option<InstantText>,
    /// The instant before which it was.
    #[param(inline)]
    to: Option<InstantText>,
    /// A part of what was done, in any case.
    #[param(inline)]
    query: Option<SearchText>,
    /// How many to list.
    #[param(inline)]
    limit: Option<LimitText>,
    /// The `nextCursor` of the page before.
    #[param(inline)]
    cursor: Option<CursorText>,
}

type CursorText = Text<Cursor>;

/// A place in the log as callers send it.
#[derive(Debug)]
struct Cursor(AuditCursor);

impl FromText for Cursor {
    const NAME: &'static str = "AuditCursor";
    const WANTED: &'static str = "a nextCursor of this list";

    fn from_text(text: &str) -> Option<Self> {
        let (page, place) = text.strip_prefix("a1_")?.split_once('_')?;
        let (page, place) = (page.parse().ok()?, place.parse().ok()?);
        Some(Self(AuditCursor { page, place }))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string.pattern(Some("^a1_[0-9]{1,9}_[0-9]{1,9}$"))
    }
}

/// A change that was made, or was begun.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuditLogEntry {
    /// When it was made.
    at: String,
    /// A user's name and identifier, or `administrator's token`.
    actor: String,
    /// What was done, in words.
    description: String,
    /// The address that it came from.
    address: String,
    /// The project that it was about; null: none.
    project_id: Option<String>,
    /// The area of the change, as `kind` filters it.
    kind: String,
    /// `done`, or `unknown`: it may have been done. Once that is known, it becomes `done`.
    status: &'static str,
}

/// A page of the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuditEntries {
    /// The newest first.
    entries: Vec<AuditLogEntry>,
    /// Where the next page begins; null: this is the last.
    next_cursor: Option<String>,
}

impl From<&AuditEntry> for AuditLogEntry {
    fn from(entry: &AuditEntry) -> Self {
        Self {
            at: instant(domain::Timestamp(entry.at)).to_string(),
            actor: entry.who.clone(),
            description: entry.what.clone(),
            address: entry.from.clone(),
            project_id: entry.project.map(|project| project.to_string()),
            kind: entry.kind.clone(),
            status: audit_csv::state(entry),
        }
    }
}

pub(super) async fn list(
    call: AdminCall<Own>,
    headers: HeaderMap,
    Params(asked): Params<Filter>,
) -> Result<Response, Error> {
    let project = asked.project_id.map(|id| id.parse::<ProjectId>());
    let filter = AuditFilter {
        who: asked.actor.map(line),
        // Nothing is about a project whose identifier is malformed.
        project: project.map(|id| id.unwrap_or(ProjectId(0))),
        kind: asked.kind,
        from: asked.from.map(|Text(at)| at),
        to: asked.to.map(|Text(at)| at),
        text: asked.query.map(line),
    };
    let limit = asked.limit.map_or_else(Default::default, |limit| limit.0).0;
    let before = asked.cursor.map(|Text(Cursor(cursor))| cursor);
    let log = &call.app.edge.audit;
    log.look_for_proofs(&call.app.catalog, &call.app.payments)
        .await;
    let found = log.search(filter, before, limit).await;
    let (entries, older) = found.map_err(|error| {
        tracing::error!(%error, "The audit log cannot be read");
        Error::new(ErrorCode::Unavailable)
    })?;
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/csv")) {
        let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
        return Ok((kind, audit_csv::lines(&entries)).into_response());
    }
    let page = AuditEntries {
        entries: entries.iter().map(AuditLogEntry::from).collect(),
        next_cursor: older.map(|it| format!("a1_{}_{}", it.page, it.place)),
    };
    Ok(Json(page).into_response())
}
