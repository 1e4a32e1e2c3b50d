//! `GET /dashboard/audit`: who changed what, when and from where.

use axum::{extract::State, response::Response};
use domain::Timestamp;
use edge::Manage;
use maud::html;
use operations::audit::AuditEntry;
use serde::{Deserialize, Serialize};
use wire::{Error, ErrorCode};

use super::{
    elsewhere,
    layout::{self, At},
    page_request::PageFor,
};
use crate::{DashboardState, state::App};

/// Some entries of a log, the newest first.
#[derive(Debug, Serialize, Deserialize)]
pub struct AuditPage {
    entries: Vec<AuditEntry>,
    /// The page with those before them.
    older: Option<u64>,
}

impl AuditPage {
    /// Without changes that are being made at this moment.
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.entries.retain(|entry| entry.under_way.is_none());
        self
    }
}

/// A page of the log of this process' cell; the newest where none is named.
///
/// # Errors
///
/// The log cannot be read.
pub async fn newest(app: &DashboardState, page: Option<u64>) -> Result<AuditPage, Error> {
    let read = app.edge.audit.page(page).await;
    let (entries, older) = read.map_err(|error| {
        tracing::error!(%error, "The audit log cannot be read");
        Error::new(ErrorCode::Unavailable)
    })?;
    Ok(AuditPage { entries, older })
}

fn own(app: &DashboardState) -> i16 {
    app.cluster.as_ref().map_or(0, |part| part.cell())
}

/// The numbers of the other cells.
fn numbers(app: &DashboardState) -> Vec<i16> {
    let part = app.cluster.as_ref();
    part.map(|part| part.others().numbers()).unwrap_or_default()
}

pub(super) async fn list(page: PageFor<Manage>, State(app): State<App>) -> Result<Response, Error> {
    let request = page.request;
    let page = request.query().parsed("page", "a page's number")?;
    let cell: Option<i16> = request.query().parsed("cell", "a cell's number")?;
    let mut read = newest(&app, page).await?;
    let mut pages: Vec<_> = read
        .older
        .map(|older| (own(&app), older))
        .into_iter()
        .collect();
    let mut silent = Vec::new();
    // The newest of all cells; older ones cell by cell.
    if cell.is_none() && page.is_none() {
        for (cell, answer) in elsewhere::asked::<AuditPage>(&app, request.client(), "audit").await {
            match answer {
                Some(answer) => {
                    pages.extend(answer.older.map(|older| (cell, older)));
                    read.entries.extend(answer.entries);
                }
                None => silent.push(cell),
            }
        }
        read.entries
            .sort_by_key(|entry| std::cmp::Reverse(entry.at));
        // What was before a split is in both cells' logs.
        read.entries.dedup();
    }
    let (entries, several) = (read.entries, !numbers(&app).is_empty());
    let body = html! {
        h1 { "Audit log" }
        p.lead { "Every change made here or through the admin API. Kept for a year, at most 100,000 entries." }
        @for cell in silent { p.alert role="alert" { "Cell " (cell) " does not answer: its changes are missing here." } }
        @if entries.is_empty() { p.empty { "No changes yet." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Changes" { table {
                thead { tr { th { "When" } th { "Who" } th { "What" } th { "From" } } }
                tbody { @for entry in &entries { tr {
                    td.time { (layout::when(Timestamp(entry.at))) }
                    td.nowrap { (entry.who) }
                    td.wrap {
                        (entry.what)
                        @if entry.under_way.is_some() { " " span.badge.wait { "Under way" } }
                        @else if entry.open { " " span.badge.bad { "Interrupted" } br; span.hint { "The service stopped during this change: check whether it was made." } }
                    }
                    td { (entry.from) }
                } } }
            } }
        }
        @for (cell, older) in pages { p {
            a.button href={ "?page=" (older) @if several { "&cell=" (cell) } } {
                "Older" @if several { " in cell " (cell) }
            }
        } }
    };
    Ok(layout::page(&request, At::Audit, "Audit log", &body))
}
