//! What all pages have around them, and the headers that go with each. A page runs the scripts of this
//! server alone, sends its forms nowhere else, is shown in no other page, and is kept by nobody.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use domain::Timestamp;
use maud::{DOCTYPE, Markup, html};

use super::{assets, form, visit::Visit};
use crate::{
    catalog::ProjectCatalog,
    http::{Error, view::Instant},
};

const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    // Not `no-referrer`: with that browsers send forms without their origin.
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// What went well, by what stands behind a page's address: nobody else's words are shown.
const DONE: [(&str, &str); 22] = [
    ("deleted", "Deleted."),
    ("sent", "It is sent again."),
    ("saved", "Saved."),
    ("made", "Made."),
    ("revoked", "Revoked. The key stopped working."),
    ("granted", "The credits were granted."),
    ("deducted", "The credits were deducted."),
    ("again", "This was done before, and nothing was done twice."),
    ("feature_granted", "The feature was granted."),
    ("feature_revoked", "The manual grant was revoked."),
    ("refunded", "The refund is on its way."),
    ("canceled", "The subscription was canceled."),
    ("resumed", "The subscription goes on."),
    ("released", "The hold was released."),
    ("assigned", "The payment is this order now."),
    ("dismissed", "The payment left the list."),
    (
        "proving",
        "The provider's books are being read. Load this page again to see what it comes to.",
    ),
    (
        "asked_nothing",
        "This order has nothing at the payment provider to ask about.",
    ),
    (
        "asked_changed",
        "The payment provider was asked, and the order changed.",
    ),
    (
        "asked_processing",
        "The payment provider says: the buyer is done, and the money is on its way.",
    ),
    (
        "asked_open",
        "The payment provider says: the buyer has not paid, and still may.",
    ),
    (
        "asked_same",
        "The payment provider was asked. All is as it was.",
    ),
];

/// Which part of a project a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Overview,
    Wallets,
    Orders,
    Catalog,
    Webhooks,
    Keys,
    Settings,
}

const TABS: [(Tab, &str, &str); 7] = [
    (Tab::Overview, "Overview", ""),
    (Tab::Wallets, "Wallets", "/wallets"),
    (Tab::Orders, "Orders", "/orders"),
    (Tab::Catalog, "Catalog", "/catalog"),
    (Tab::Webhooks, "Webhooks", "/webhooks"),
    (Tab::Keys, "Keys", "/keys"),
    (Tab::Settings, "Settings", "/settings"),
];

/// Where a page belongs.
#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Projects,
    System,
    Audit,
    Project(&'a ProjectCatalog, Tab),
}

/// Where a project's pages are.
pub(super) fn base(project: &ProjectCatalog) -> String {
    format!("/dashboard/projects/{}", project.project.id)
}

/// A page for somebody signed in.
pub(super) fn page(visit: &Visit, at: At<'_>, title: &str, body: &Markup) -> Response {
    let main = |name: &str, path: &str, current: bool| {
        html! { a href=(path) aria-current=[current.then_some("page")] { (name) } }
    };
    let in_projects = matches!(at, At::Projects | At::Project(..));
    let top = html! {
        header.top {
            a.brand href="/dashboard" { "Scrip" }
            nav aria-label="Main" {
                (main("Projects", "/dashboard", in_projects))
                (main("Audit log", "/dashboard/audit", matches!(at, At::Audit)))
                (main("System", "/dashboard/system", matches!(at, At::System)))
            }
            form method="post" action="/dashboard/sign-out" {
                (form::token(visit))
                button.link type="submit" { "Sign out" }
            }
        }
    };
    let done = visit.query().text("done");
    let done = DONE.iter().find(|(name, _)| *name == done);
    let inner = html! {
        (top)
        @if let At::Project(project, tab) = at { (project_head(project, tab)) }
        main #content {
            @if let Some((_, said)) = done { p.done role="status" { (said) } }
            (body)
        }
    };
    Html(document(title, &inner).into_string()).into_response()
}

fn project_head(project: &ProjectCatalog, current: Tab) -> Markup {
    let base = base(project);
    html! {
        div.project {
            p.name { (project.project.name) }
            nav aria-label="Project" {
                @for (tab, name, path) in TABS {
                    a href={ (base) (path) } aria-current=[(tab == current).then_some("page")] { (name) }
                }
            }
        }
    }
}

/// A page that stands for itself: of somebody who is not signed in, or about something gone wrong.
pub(super) fn alone(status: StatusCode, title: &str, body: &Markup) -> Response {
    let inner = html! { main.alone { p.brand { "Scrip" } (body) } };
    let page = document(title, &inner).into_string();
    (status, Html(page)).into_response()
}

/// The same with a sentence and a way back.
pub(super) fn apart(status: StatusCode, title: &str, said: &str) -> Response {
    let body = html! {
        h1 { (title) }
        p { (said) }
        p { a href="/dashboard" { "To the dashboard" } }
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
                title { (title) " · Scrip" }
                link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::path("uplot.min.css"));
                link rel="stylesheet" href=(assets::path("dashboard.css"));
                script src=(assets::path("htmx.min.js")) defer {}
                script src=(assets::path("uplot.min.js")) defer {}
                script src=(assets::path("charts.js")) defer {}
            }
            body { (body) }
        }
    }
}

/// An instant for people, to the second; programs find all of it.
pub(super) fn when(at: Timestamp) -> Markup {
    let exact = Instant(at).to_string();
    let short = exact.get(..19).unwrap_or_default().replace('T', " ");
    html! { time datetime=(exact) { (short) " UTC" } }
}

/// Where to go after a form did what it was to do, and what is said there.
pub(super) fn done(path: &str, said: &str) -> Response {
    Redirect::to(&format!("{path}?done={said}")).into_response()
}

/// Puts the headers on every page, and makes pages of refusals.
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
        // What never changes says so itself.
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}
