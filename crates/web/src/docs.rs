//! The documentation, in the binary: a start page, the pages of `docs/`, the references of the API and of the
//! administration, what their search needs, and an index for language models. Nothing is loaded from elsewhere, and no
//! script but our own runs. It is rendered once, when the first of it is asked for.

use std::{collections::HashMap, sync::LazyLock};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use maud::{PreEscaped, html};
use wire::{code::ErrorCode, error::Error};

use crate::{admin, api};

mod example;
mod frame;
mod llms;
mod markdown;
mod pages;
mod reference;
mod samples;
mod schema;
mod search;
#[cfg(test)]
mod tests;

pub use self::{
    reference::{DescribedOperation, is_required, kebab, operations},
    samples::command,
    schema::{Document, parts, text},
};

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Lets a page load our own styles, script, index and pictures, and nothing else.
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static(
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; img-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
);
const NO_SNIFFING: (HeaderName, HeaderValue) = (
    header::X_CONTENT_TYPE_OPTIONS,
    HeaderValue::from_static("nosniff"),
);
/// The description is public: code generators in browsers may read it.
const ALLOW_ANY_ORIGIN: (HeaderName, HeaderValue) = (
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    HeaderValue::from_static("*"),
);

/// A document with its media type.
#[derive(Clone)]
struct Served {
    kind: &'static str,
    body: Bytes,
}

impl Served {
    fn new(kind: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self { kind, body }
    }
}

impl IntoResponse for Served {
    fn into_response(self) -> Response {
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        ([kind, POLICY, NO_SNIFFING], self.body).into_response()
    }
}

/// The routes of the documentation, which need no state.
pub fn router() -> Router {
    let description = Served::new(JSON, api::description::document().to_string());
    let always = |served: Served| get(move || std::future::ready(served.clone()));
    let start = || async { START.clone() };
    Router::new()
        .route(
            "/api/openapi.json",
            get(move || std::future::ready(([ALLOW_ANY_ORIGIN], description.clone()))),
        )
        .route("/docs", get(start))
        .route("/docs/", get(start))
        .route("/docs/{*name}", get(document))
        .route("/llms.txt", always(Served::new(TEXT, llms::index())))
        .route("/llms-full.txt", always(Served::new(TEXT, llms::full())))
}

/// A document by its name; a page, if a browser asks for one that there is not.
async fn document(name: Result<Path<String>, PathRejection>, headers: HeaderMap) -> Response {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    if let Some(document) = DOCUMENTS.get(name.as_str()) {
        return document.clone().into_response();
    }
    let without_slash = name.trim_end_matches('/');
    if DOCUMENTS.contains_key(without_slash) {
        return Redirect::permanent(&format!("/docs/{without_slash}")).into_response();
    }
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    match accept.is_some_and(|accept| accept.contains("text/html")) {
        true => (StatusCode::NOT_FOUND, NOT_FOUND.clone()).into_response(),
        false => Error::new(ErrorCode::RouteNotFound).into_response(),
    }
}

static START: LazyLock<Served> = LazyLock::new(|| Served::new(HTML, frame::start()));
static NOT_FOUND: LazyLock<Served> = LazyLock::new(|| Served::new(HTML, frame::not_found()));
/// All documents, by their names under `/docs/`.
static DOCUMENTS: LazyLock<HashMap<String, Served>> = LazyLock::new(documents);

/// The pages as HTML and as Markdown, the files that they show, the references, and what the search needs.
fn documents() -> HashMap<String, Served> {
    let descriptions = [api::description::document(), admin::description::document()];
    let references: Vec<_> = reference::REFERENCES
        .into_iter()
        .zip(descriptions)
        .collect();
    let pages = pages::PAGES.iter().flat_map(|page| {
        let source = Served::new(MARKDOWN, page.text);
        [
            (page.name.to_owned(), Served::new(HTML, shown(page))),
            (format!("{}.md", page.name), source),
        ]
    });
    let files = pages::FILES.iter();
    let files = files.map(|file| (file.name.to_owned(), Served::new(file.kind, file.bytes)));
    let described = references.iter().map(|(reference, document)| {
        let page = reference::render(*reference, document);
        (reference.name.to_owned(), Served::new(HTML, page))
    });
    let own = [
        ("page.js", Served::new(SCRIPT, include_str!("docs/page.js"))),
        (
            "icon.svg",
            Served::new("image/svg+xml", include_str!("docs/icon.svg")),
        ),
        ("search.json", Served::new(JSON, search::index(&references))),
    ];
    let own = own.map(|(name, served)| (name.to_owned(), served));
    pages.chain(files).chain(described).chain(own).collect()
}

fn shown(page: &pages::DocPage) -> String {
    let headings = markdown::headings(page.text);
    // Trusted: `markdown` wrote it, from pages that are compiled in.
    let main = PreEscaped(markdown::render(page.path, page.text, &headings));
    frame::page(
        page.title(),
        page.name,
        &frame::outline(&headings),
        &html! { (main) },
    )
}
