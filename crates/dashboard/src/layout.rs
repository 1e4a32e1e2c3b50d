//! The layout around all pages, and their headers. A page runs only this server's scripts, sends forms only
//! here, cannot be framed, and is not cached.

use axum::{
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use catalog::ProjectCatalog;
use domain::{Timestamp, money::grouped};
use identity::Privilege;
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;
use wire::{Error, view::instant, visible::visible};

use super::{
    assets, fields::Fields, form, page_request::SignedRequest, time_zone, verbatim::verbatim,
};

const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    // Not `no-referrer`: with that, browsers send forms with the origin `null`.
    ("referrer-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// Success messages by the `done` query parameter: only these texts are shown, never the parameter itself.
const DONE: [(&str, &str); 38] = [
    (
        "asked",
        "This waits here for approval by a second person, for seven days at most.",
    ),
    ("approved", "Approved and carried out."),
    (
        "approved_key",
        "Approved. The person who asked for the key creates it here, and sees it once.",
    ),
    ("declined", "The request was removed; nothing else changed."),
    ("backing_up", "A backup is being made."),
    ("deleted", "Deleted."),
    ("counted", "Outstanding credits were counted."),
    (
        "counting",
        "Outstanding credits are being counted. With many wallets this takes some minutes.",
    ),
    ("sent", "It will be sent again."),
    ("saved", "Saved."),
    ("mailed", "The test mail was sent."),
    ("resumed_mails", "Mails are sent to this address again."),
    ("erased", "Erased."),
    ("archived", "Archived."),
    ("unarchived", "Unarchived."),
    ("created", "Created."),
    ("revoked", "Revoked. The key stopped working."),
    ("closed", "The rate card was closed."),
    ("granted", "The credits were granted."),
    ("deducted", "The credits were deducted."),
    ("reversed", "The deduction was reversed."),
    ("frozen", "The wallet is frozen."),
    ("unfrozen", "The wallet can be used again."),
    ("again", "This was done before; nothing was done twice."),
    ("feature_granted", "The feature was granted."),
    ("feature_revoked", "The manual grant was revoked."),
    ("refunded", "The refund is on its way."),
    ("canceled", "The subscription was canceled."),
    ("resumed", "The subscription was resumed."),
    ("released", "The hold was released."),
    ("assigned", "The payment now belongs to this order."),
    ("dismissed", "The payment was dismissed."),
    (
        "reconciling",
        "The reconciliation is running. Reload this page to see its result.",
    ),
    (
        "refreshed_nothing",
        "The payment provider has nothing for this order.",
    ),
    ("refreshed_changed", "Refreshed: the order changed."),
    (
        "refreshed_processing",
        "Refreshed: the buyer is done, and the payment is processing.",
    ),
    (
        "refreshed_open",
        "Refreshed: the buyer has not paid yet, and still can.",
    ),
    ("refreshed_same", "Refreshed: nothing changed."),
];

/// The parts of a project: their names, their paths, and the other paths whose pages they show.
const TABS: [(&str, &str, &[&str]); 7] = [
    ("Overview", "", &["approvals"]),
    ("Wallets", "wallets", &["search", "refused"]),
    ("Orders", "orders", &["unfulfilled-payments"]),
    ("Catalog", "catalog", &["rate-cards"]),
    ("Webhooks", "webhooks", &[]),
    ("Keys", "keys", &[]),
    ("Settings", "settings", &["sandbox", "mails"]),
];

pub(super) fn base(project: &ProjectCatalog) -> String {
    format!("/dashboard/projects/{}", project.project.id)
}

pub(super) fn approvals(project: &ProjectCatalog) -> String {
    format!("{}/approvals", base(project))
}

/// A page of the dashboard: which part of it that is, its path says.
pub(super) fn page(
    request: &SignedRequest,
    project: Option<&ProjectCatalog>,
    title: &str,
    body: &Markup,
) -> Response {
    let part = request.path().split('/').nth(2).unwrap_or_default();
    let is_apart = ["audit", "people", "system", "account"].contains(&part);
    let main = |name: &str, path: &str, current: bool| {
        html! { a href=(path) aria-current=[current.then_some("page")] { (name) } }
    };
    let top = html! {
        a.skip href="#content" { "Skip to the content" }
        header.top {
            a.brand href="/dashboard" { "Scrip" }
            nav aria-label="Main" {
                (main("Projects", "/dashboard", !is_apart))
                @if request.authority.may(Privilege::Manage, None) {
                    (main("Audit log", "/dashboard/audit", part == "audit"))
                }
                @if request.authority.may(Privilege::Own, None) {
                    (main("People", "/dashboard/people", part == "people"))
                    (main("System", "/dashboard/system", part == "system"))
                }
                a href="/docs" { "Docs" }
            }
            a.who href="/dashboard/account" aria-current=[(part == "account").then_some("page")] { (verbatim(request.authority.label())) }
            form method="post" action="/dashboard/sign-out" {
                (form::token(request))
                button.link type="submit" { "Sign out" }
            }
        }
    };
    let done = request.query().text("done");
    let done = DONE.iter().find(|(name, _)| *name == done);
    let inner = html! {
        (top)
        @if request.offline { p.done role="status" { "This server runs offline, for a drill: it calls no payment provider and sends no mail and no webhooks." } }
        @if let Some(project) = project { (project_head(request, project)) }
        main #content tabindex="-1" {
            @if let Some(project) = project { (archived(project)) }
            @if let Some((_, text)) = done { p.done role="status" { (text) } }
            (body)
        }
        (time_zone::footer())
    };
    Html(document(title, &inner).into_string()).into_response()
}

fn project_head(request: &SignedRequest, project: &ProjectCatalog) -> Markup {
    let base = base(project);
    let part = request.path().split('/').nth(4).unwrap_or_default();
    html! {
        section.project aria-label=(project.project.name) {
            div.who { p.name { (project.project.name) } (search_box(request, project)) }
            nav aria-label="Project" {
                @for (name, path, others) in TABS {
                    @let is_here = path == part || others.contains(&part);
                    a href={ (base) @if !path.is_empty() { "/" (path) } } aria-current=[is_here.then_some("page")] { (name) }
                }
            }
        }
    }
}

fn archived(project: &ProjectCatalog) -> Markup {
    html! { @if project.project.archived {
        p.alert role="note" { b { "Archived" } ": its keys sell and spend nothing new. Reports of the provider are still processed." }
    } }
}

fn search_box(request: &SignedRequest, project: &ProjectCatalog) -> Markup {
    let typed = request.query().raw("query");
    html! {
        form.find role="search" method="post" action={ (base(project)) "/search" } {
            (form::token(request))
            label.hidden for="find" { "Find a wallet or an order" }
            input #find type="search" name="query" value=(typed) autocomplete="off" spellcheck="false"
                placeholder="Find: user, e-mail, order, code, pi_…" aria-keyshortcuts="/";
            button.small type="submit" { "Find" }
        }
    }
}

/// A page without navigation, for somebody who is not signed in, or about an error.
pub(super) fn alone(status: StatusCode, title: &str, body: &Markup) -> Response {
    let inner = html! { main.alone { p.brand { "Scrip" } (body) } };
    let page = document(title, &inner).into_string();
    (status, Html(page)).into_response()
}

/// A page without navigation that has a sentence and a link back.
pub(super) fn apart(status: StatusCode, title: &str, text: &str) -> Response {
    let body = html! {
        h1 { (title) }
        p { (text) }
        p { a href="/dashboard" { "Go to the dashboard" } }
    };
    alone(status, title, &body)
}

fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                meta name="htmx-config" content=(assets::HTMX_CONFIG);
                title { (visible(title)) " · Scrip" }
                link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::path("uplot.min.css"));
                link rel="stylesheet" href=(assets::path("dashboard.css"));
                script src=(assets::path("htmx.min.js")) defer {}
                script src=(assets::path("uplot.min.js")) defer {}
                script src=(assets::path("charts.js")) defer {}
                script src=(assets::path("page.js")) defer {}
            }
            body { (body) }
        }
    }
}

/// A table that scrolls by itself. `#` begins the heading of a column of figures, `~` one that only screen readers say.
pub(super) fn table(name: &str, headings: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) { table {
            thead { tr { @for heading in headings {
                @if let Some(figures) = heading.strip_prefix('#') { th.number { (figures) } }
                @else if let Some(hidden) = heading.strip_prefix('~') { th { span.hidden { (hidden) } } }
                @else { th { (heading) } }
            } } }
            tbody { (rows) }
        } }
    }
}

/// A number of things.
pub(super) fn count(number: impl TryInto<i64>) -> String {
    grouped(number.try_into().unwrap_or(i64::MAX))
}

/// The part of a list that begins where the field `name` says, and the links to others, which keep these fields.
pub(super) fn paged<'a, T>(
    query: &Fields,
    kept: &[&str],
    name: &str,
    all: &'a [T],
    size: usize,
) -> (&'a [T], Markup) {
    let start = query.text(name).parse().unwrap_or(0).min(all.len());
    let end = start.saturating_add(size).min(all.len());
    let link = |start: usize, text| {
        html! { a.button href={ "?" (query.query(kept)) (name) "=" (start) } { (text) } }
    };
    let links = html! { @if all.len() > size { div.row {
        @if start > 0 { (link(start.saturating_sub(size), "Previous")) }
        @if end < all.len() { (link(end, "Next")) }
        span.hint { (count(start.saturating_add(1))) "–" (count(end)) " of " (count(all.len())) }
    } } };
    (all.get(start..end).unwrap_or_default(), links)
}

/// A chart, and the same figures as a table.
pub(super) fn chart(data: &Value, table: &Markup) -> Markup {
    html! {
        div.chart data-chart=(data) { p.empty { "The chart needs JavaScript; the same figures are below." } }
        details { summary { "As a table" } (table) }
    }
}

/// An instant for people, to the second and in the browser's time zone, which the footer names.
pub(super) fn when(at: Timestamp) -> Markup {
    let exact = instant(at).to_string();
    let written = time_zone::written(at).unwrap_or_else(|| exact.clone());
    html! { time datetime=(exact) { (written) } }
}

/// A text to be copied, with a button for it where scripts run.
pub(super) fn copyable(text: &str) -> Markup {
    html! { span.copyable { code.key { (text) } button.small type="button" hidden data-copy { "Copy" } } }
}

pub(super) fn docs(page: &str, text: &str) -> Markup {
    html! { a href={ "/docs/" (page) } { (text) } }
}

/// Redirects after a form succeeded; `message` names the text shown there.
pub(super) fn done(path: &str, message: &str) -> Response {
    Redirect::to(&format!("{path}?done={message}")).into_response()
}

/// Adds the headers to every response, and renders errors as pages.
pub(super) async fn present(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Some(error) = response.extensions_mut().remove::<Error>() {
        let retry = error.refusal().map(|refusal| refusal.retry_after_seconds);
        let status = error.code().status();
        let title = match status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::TOO_MANY_REQUESTS => "Too many requests",
            _ => "That did not work",
        };
        response = apart(status, title, error.message());
        if let Some(seconds) = retry {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
    }
    for (name, value) in HEADERS {
        // Assets set their own `Cache-Control`.
        let value = HeaderValue::from_static(value);
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}
