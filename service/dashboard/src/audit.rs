//! `GET /dashboard/audit`: who changed what, when and from where.

use axum::{extract::State, response::Response};
use domain::Timestamp;
use maud::html;
use wire::{Error, ErrorCode};

use super::{
    layout::{self, At},
    page_request::PageRequest,
};
use crate::state::App;

pub(super) async fn list(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let page = request.query().parsed("page", "a page's number")?;
    let read = app.edge.audit.page(page).await;
    let (entries, older) = read.map_err(|error| {
        tracing::error!(%error, "The audit log cannot be read");
        Error::new(ErrorCode::Unavailable)
    })?;
    let body = html! {
        h1 { "Audit log" }
        p.lead { "Every change made here or through the admin API. Kept for a year, at most 100,000 entries." }
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
        @if let Some(older) = older { p { a.button href={ "?page=" (older) } { "Older" } } }
    };
    Ok(layout::page(&request, At::Audit, "Audit log", &body))
}
