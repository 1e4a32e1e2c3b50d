//! The API's description: for programs as it is, for people as one page that loads nothing from
//! elsewhere and runs no script. Both are written once, at start.

use axum::{
    Router,
    body::Bytes,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::Value;

use crate::{deprecations, state::App};

mod page;
mod schema;

/// A page that may do nothing but show itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Serves both.
pub(crate) fn router(document: &Value) -> Router<App> {
    let json = Bytes::from(document.to_string());
    let page = Bytes::from(page::render(document, deprecations::ALL));
    Router::new()
        .route(
            "/api/openapi.json",
            get(move || std::future::ready(describe(json.clone()))),
        )
        .route("/docs", get(move || std::future::ready(show(page.clone()))))
}

fn describe(json: Bytes) -> Response {
    let mut response = json.into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    // Nothing secret: generators in browsers may read it.
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static("*"),
    );
    response
}

fn show(page: Bytes) -> Response {
    let mut response = page.into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(POLICY),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}
