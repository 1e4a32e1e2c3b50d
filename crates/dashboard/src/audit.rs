//! `GET /dashboard/audit`: who changed what, when and from where. The address holds the filters.

use axum::{http::header, response::IntoResponse as _};
use edge::{Manage, Own};
use operations::{
    audit::AuditEntry,
    audit_search::{AuditCursor, AuditFilter},
};
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use super::{
    DashboardState,
    audit_names::{WalletNames, sentence},
    elsewhere,
    prelude::*,
    projects,
};

const PAGE_SIZE: usize = 25;
/// Entries that a step of an export reads.
const STEP: usize = 1000;
const FILTERS: [&str; 6] = ["who", "projectId", "kind", "from", "to", "text"];
const KINDS: [(&str, &str); 9] = [
    ("", "All"),
    ("people", "People and sign-ins"),
    ("projects", "Projects and settings"),
    ("catalog", "Catalog"),
    ("keys", "Keys"),
    ("webhooks", "Webhooks"),
    ("wallets", "Wallets"),
    ("orders", "Orders"),
    ("payments", "Payments"),
];

/// Some entries of a log, the newest first.
#[derive(Debug, Serialize, Deserialize)]
pub struct AuditPage {
    entries: Vec<AuditEntry>,
    /// Where those before them begin.
    older: Option<String>,
}

impl AuditPage {
    /// Without changes that are being made at this moment.
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.entries.retain(|entry| entry.under_way.is_none());
        self
    }
}

/// The first page of the log of this process' cell that agrees with a query.
/// # Errors
/// The query is not well-formed; the log cannot be read.
pub async fn newest(app: &DashboardState, query: &str) -> Result<AuditPage, Error> {
    read(app, &Fields::read(query.as_bytes()), None).await
}

fn filter(query: &Fields) -> Result<AuditFilter, Error> {
    Ok(AuditFilter {
        who: query.owned("who"),
        project: query.parsed("projectId", "a project")?,
        kind: query.owned("kind"),
        from: query.day("from")?,
        to: query.day_end("to")?,
        text: query.owned("text"),
    })
}

async fn read(
    app: &DashboardState,
    query: &Fields,
    before: Option<AuditCursor>,
) -> Result<AuditPage, Error> {
    let log = &app.edge.audit;
    log.look_for_proofs(&app.catalog, &app.payments).await;
    let found = log.search(filter(query)?, before, PAGE_SIZE).await;
    let (entries, older) = found.map_err(unreadable)?;
    let older = older.map(|it| format!("{}.{}", it.page, it.place));
    Ok(AuditPage { entries, older })
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    tracing::error!(%error, "The audit log cannot be read");
    Error::new(ErrorCode::Unavailable)
}

fn cursor(query: &Fields) -> Result<Option<AuditCursor>, Error> {
    let Some(text) = query.some("before") else {
        return Ok(None);
    };
    let read = text.split_once('.').and_then(|(page, place)| {
        Some(AuditCursor {
            page: page.parse().ok()?,
            place: place.parse().ok()?,
        })
    });
    read.map(Some)
        .ok_or_else(|| Error::invalid("before", "No such page."))
}

/// The filters of a query as a query, with more pairs.
fn filters(query: &Fields, more: &[(&str, &str)]) -> String {
    let set = FILTERS
        .iter()
        .filter_map(|name| Some((*name, query.some(name)?)));
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(set.chain(more.iter().copied()))
        .finish()
}

fn own(app: &DashboardState) -> i16 {
    app.cluster.as_ref().map_or(0, |part| part.cell())
}

fn numbers(app: &DashboardState) -> Vec<i16> {
    let part = app.cluster.as_ref();
    part.map(|part| part.others()).unwrap_or_default()
}

pub(super) async fn list(request: PageFor<Manage, NoProject>) -> PageResult {
    let query = request.query();
    let before = cursor(query)?;
    let cell: Option<i16> = query.parsed("cell", "a cell's number")?;
    let mut read = read(&request.app, query, before).await?;
    let mut pages: Vec<_> = read
        .older
        .take()
        .map(|older| (own(&request.app), older))
        .into_iter()
        .collect();
    let mut silent = Vec::new();
    // The newest of all cells; older ones cell by cell.
    if cell.is_none() && before.is_none() {
        let path = format!("audit?{}", filters(query, &[]));
        for (cell, answer) in
            elsewhere::asked::<AuditPage>(&request.app, request.client(), &path).await
        {
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
    let several = !numbers(&request.app).is_empty();
    let (projects, _) = projects::all_lines(&request).await;
    let projects = projects.into_iter().map(|it| (it.id.to_string(), it.name));
    let choices: Vec<_> = [(String::new(), "All".to_owned())]
        .into_iter()
        .chain(projects)
        .collect();
    let body = html! {
        h1 { "Audit log" }
        p.lead { "Every change made here or through the admin API, and failed sign-ins. Kept for a year, at most 50,000 entries of one person." }
        @for cell in silent { p.alert role="alert" { "Cell " (cell) " does not answer: its changes are missing here." } }
        (filter_form(query, &choices, request.may(Privilege::Own)))
        (table(&request.app, &read.entries).await)
        @for (cell, older) in pages { p {
            @let number = cell.to_string();
            @let cell_pair = if several { &[("before", older.as_str()), ("cell", number.as_str())][..] } else { &[("before", older.as_str())][..] };
            a.button href={ "?" (filters(query, cell_pair)) } {
                "Older" @if several { " in cell " (cell) }
            }
        } }
    };
    Ok(request.show("Audit log", &body))
}

fn filter_form(query: &Fields, projects: &[(String, String)], may_export: bool) -> Markup {
    let form = Form::new(query, None);
    let export = |kind| {
        format!(
            "/dashboard/audit/export?{}",
            filters(query, &[("format", kind)])
        )
    };
    html! {
        (form.filters(&FILTERS, &html! {
            (form.text(&FieldLabel("who", "Who", "")))
            (form.text(&FieldLabel("text", "What", "")))
            (form.choice(&FieldLabel("kind", "Kind", ""), &KINDS))
            (form.choice(&FieldLabel("projectId", "Project", ""), projects))
            (form.day(&FieldLabel("from", "From", "")))
            (form.day(&FieldLabel("to", "To", "")))
        }))
        @if may_export { p { "Export: " a href=(export("csv")) { "CSV" } ", " a href=(export("json")) { "JSON" } } }
    }
}

async fn table(app: &App, entries: &[AuditEntry]) -> Markup {
    let named = entries
        .iter()
        .filter_map(|it| Some((it.project?, &*it.what)));
    let names = WalletNames::of(app, named).await;
    html! {
        @if entries.is_empty() { p.empty { "No changes." } } @else {
            (layout::table("Changes", &["When", "Who", "What", "From"], &html! { @for entry in entries { tr {
                td.time { (layout::when(Timestamp(entry.at))) }
                td.nowrap { (verbatim(&entry.who)) }
                td.wrap {
                    (sentence(app, &names, entry.project, &entry.what))
                    @if entry.under_way.is_some() { " " span.badge.wait { "Under way" } }
                    @else if entry.open { " " span.badge.bad { "Outcome unknown" } br; span.hint { "It may have been done: the service stopped during it, or a response was lost. The outcome is shown here once it is known." } }
                }
                td { (entry.from) }
            } } }))
        }
    }
}

pub(super) async fn export(request: PageFor<Own, NoProject>) -> PageResult {
    let query = request.query();
    let filter = filter(query)?;
    let (mut all, mut before) = (Vec::new(), None);
    let log = &request.app.edge.audit;
    log.look_for_proofs(&request.app.catalog, &request.app.payments)
        .await;
    loop {
        let found = request
            .app
            .edge
            .audit
            .search(filter.clone(), before, STEP)
            .await;
        let (entries, older) = found.map_err(unreadable)?;
        all.extend(entries);
        match older {
            Some(older) => before = Some(older),
            None => break,
        }
    }
    let (kind, name, text) = match query.text("format") {
        "json" => {
            let json = serde_json::to_string(&all).map_err(unreadable)?;
            ("application/json", "audit.json", json)
        }
        _ => (
            "text/csv; charset=utf-8",
            "audit.csv",
            operations::audit_csv::lines(&all),
        ),
    };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, text).into_response())
}
