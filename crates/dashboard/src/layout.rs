//! The layout around all pages, and their headers. A page runs only this server's scripts, sends forms only
//! here, cannot be framed, and is not cached.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use catalog::ProjectCatalog;
use domain::Timestamp;
use identity::Privilege;
use maud::{DOCTYPE, Markup, html};
use wire::{Error, view::instant, visible::visible};

use super::{assets, form, page_request::PageRequest, time_zone, verbatim::verbatim};

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
    // Not `no-referrer`: with that, browsers send forms with the origin `null`.
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

/// Success messages by the `done` query parameter: only these texts are shown, never the parameter itself.
const DONE: [(&str, &str); 35] = [
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
    ("erased", "Erased."),
    ("archived", "Archived."),
    ("unarchived", "Unarchived."),
    ("created", "Created."),
    ("revoked", "Revoked. The key stopped working."),
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

/// The part of a project that a page shows.
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

impl Tab {
    /// A page of a project below this tab.
    pub(super) fn page(
        self,
        request: &PageRequest,
        project: &ProjectCatalog,
        title: &str,
        body: &Markup,
    ) -> Response {
        page(request, At::Project(project, self), title, body)
    }
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

#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Projects,
    System,
    Audit,
    People,
    Account,
    Project(&'a ProjectCatalog, Tab),
}

pub(super) fn base(project: &ProjectCatalog) -> String {
    format!("/dashboard/projects/{}", project.project.id)
}

pub(super) fn page(request: &PageRequest, at: At<'_>, title: &str, body: &Markup) -> Response {
    let main = |name: &str, path: &str, current: bool| {
        html! { a href=(path) aria-current=[current.then_some("page")] { (name) } }
    };
    let in_projects = matches!(at, At::Projects | At::Project(..));
    let top = html! {
        a.skip href="#content" { "Skip to the content" }
        header.top {
            a.brand href="/dashboard" { "Scrip" }
            nav aria-label="Main" {
                (main("Projects", "/dashboard", in_projects))
                @if request.authority.may(Privilege::Manage, None) {
                    (main("Audit log", "/dashboard/audit", matches!(at, At::Audit)))
                }
                @if request.authority.may(Privilege::Own, None) {
                    (main("People", "/dashboard/people", matches!(at, At::People)))
                    (main("System", "/dashboard/system", matches!(at, At::System)))
                }
                a href="/docs" { "Docs" }
            }
            a.who href="/dashboard/account" aria-current=[matches!(at, At::Account).then_some("page")] { (verbatim(request.authority.label())) }
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
        @if let At::Project(project, tab) = at { (project_head(request, project, tab)) }
        main #content tabindex="-1" {
            @if let At::Project(project, _) = at { (archived(project)) }
            @if let Some((_, text)) = done { p.done role="status" { (text) } }
            (body)
        }
        (time_zone::footer())
    };
    Html(document(title, &inner).into_string()).into_response()
}

fn project_head(request: &PageRequest, project: &ProjectCatalog, current: Tab) -> Markup {
    let base = base(project);
    html! {
        section.project aria-label=(project.project.name) {
            div.who { p.name { (project.project.name) } (search_box(request, project)) }
            nav aria-label="Project" {
                @for (tab, name, path) in TABS {
                    a href={ (base) (path) } aria-current=[(tab == current).then_some("page")] { (name) }
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

fn search_box(request: &PageRequest, project: &ProjectCatalog) -> Markup {
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

/// A path of the dashboard that a request names; `None` if it may lead elsewhere.
pub(super) fn own_path(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/dashboard")?;
    let begins = rest.is_empty() || rest.starts_with(['/', '?']);
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '\\' | '"' | '<' | '>');
    (begins && path.chars().all(plain)).then_some(path)
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
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}
