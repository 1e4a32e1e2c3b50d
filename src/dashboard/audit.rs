//! `GET /dashboard/audit`: what was changed, by whom and from where.

use axum::{extract::State, response::Response};
use domain::Timestamp;
use maud::html;

use super::{
    session::Signed,
    shell::{self, At},
    visit::Visit,
};
use crate::{
    audit::Deed,
    http::{Code, Error},
    state::App,
};

/// An answer to a form that did something.
pub(super) fn deed(mut response: Response, signed: &Signed, what: impl Into<String>) -> Response {
    response.extensions_mut().insert(Deed {
        who: signed.name_in_log(),
        what: what.into(),
    });
    response
}

pub(super) async fn list(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let page = visit.query().parsed("page", "a page's number")?;
    let read = app.audit.page(page).await;
    let (entries, older) = read.map_err(|error| {
        tracing::error!(%error, "The audit log cannot be read");
        Error::new(Code::Unavailable)
    })?;
    let body = html! {
        h1 { "Audit log" }
        p.lead { "Every change made here or through the admin API. Kept for a year, at most 100,000 of them." }
        @if entries.is_empty() { p.empty { "Nothing was changed yet." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Changes" { table {
                thead { tr { th { "When" } th { "Who" } th { "What" } th { "From" } } }
                tbody { @for entry in &entries { tr {
                    td.time { (shell::when(Timestamp(entry.at))) }
                    td.nowrap { (entry.who) }
                    td.wrap {
                        (entry.what)
                        @if entry.under_way.is_some() { " " span.badge.wait { "Under way" } }
                        @else if entry.open { " " span.badge.bad { "Interrupted" } br; span.hint { "The service ended meanwhile: look whether it was done." } }
                    }
                    td { (entry.from) }
                } } }
            } }
        }
        @if let Some(older) = older { p { a.button href={ "?page=" (older) } { "Older" } } }
    };
    Ok(shell::page(&visit, At::Audit, "Audit log", &body))
}
