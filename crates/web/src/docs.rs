//! The documentation, in the binary: the API's description as JSON for programs and as a page for people,
//! the pages of `docs/`, and an index for language models. Nothing is loaded from elsewhere and no script
//! runs. All of it is rendered once: the description at start, the pages when the first of them is asked
//! for.

use std::{collections::HashMap, sync::LazyLock};

use axum::{
    Router,
    body::Bytes,
    extract::Path,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use maud::{PreEscaped, html};
use wire::{code::ErrorCode, error::Error};

use crate::api::description;

mod frame;
mod llms;
mod markdown;
mod pages;
mod reference;
mod schema;
#[cfg(test)]
mod tests;

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Lets a page load our own styles and pictures, and nothing else.
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
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
    let document = &description::document();
    let description = Served::new(JSON, document.to_string());
    let always = |served: Served| get(move || std::future::ready(served.clone()));
    Router::new()
        .route(
            "/api/openapi.json",
            get(move || std::future::ready(([ALLOW_ANY_ORIGIN], description.clone()))),
        )
        .route(
            "/docs",
            always(Served::new(HTML, reference::render(document))),
        )
        .route("/llms.txt", always(Served::new(TEXT, llms::index())))
        .route("/llms-full.txt", always(Served::new(TEXT, llms::full())))
        .route(
            "/docs/{*name}",
            get(move |Path(name): Path<String>| {
                let found = DOCUMENTS.get(name.as_str()).cloned();
                std::future::ready(found.ok_or(Error::new(ErrorCode::RouteNotFound)))
            }),
        )
}

/// All documents, by their names under `/docs/`.
static DOCUMENTS: LazyLock<HashMap<String, Served>> = LazyLock::new(shelf);

/// The pages as HTML and as Markdown, and the files that they show.
fn shelf() -> HashMap<String, Served> {
    let pages = pages::PAGES.iter().flat_map(|page| {
        let source = Served::new(MARKDOWN, page.text);
        [
            (page.name.to_owned(), Served::new(HTML, shown(page))),
            (format!("{}.md", page.name), source),
        ]
    });
    let files = pages::FILES.iter();
    let files = files.map(|file| (file.name.to_owned(), Served::new(file.kind, file.bytes)));
    pages.chain(files).collect()
}

fn shown(page: &pages::DocPage) -> String {
    let rendered = markdown::render(page.path, page.text);
    let title = match page.title() {
        "Scrip" => "Scrip".to_owned(),
        title => format!("{title} · Scrip"),
    };
    // Trusted: `markdown` wrote it, from pages that are compiled in.
    let main = html! { (PreEscaped(&rendered.html)) };
    frame::page(&title, &frame::menu(Some((page, &rendered))), &main)
}
