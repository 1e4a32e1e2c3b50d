//! The styles and scripts that pages load, all of them embedded in the binary. Their paths contain a hash of
//! their contents, so that browsers may cache them for good.

use std::sync::LazyLock;

use axum::{
    Router,
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use catalog::sha256;
use data_encoding::HEXLOWER;
use wire::{Error, ErrorCode};

use crate::state::App;

/// The content security policy forbids `eval` and inline styles, so htmx must not use them.
pub(super) const HTMX_CONFIG: &str = r#"{"allowEval":false,"includeIndicatorStyles":false,"selfRequestsOnly":true,"historyCacheSize":0}"#;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Name, media type and content of each asset.
const ALL: [(&str, &str, &str); 8] = [
    ("dashboard.css", CSS, include_str!("assets/dashboard.css")),
    ("charts.js", SCRIPT, include_str!("assets/charts.js")),
    ("page.js", SCRIPT, include_str!("assets/page.js")),
    (
        "invitation.js",
        SCRIPT,
        include_str!("assets/invitation.js"),
    ),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    // Vendored as published, with their licences beside them: htmx 2.0.11 and uPlot 1.6.32.
    ("htmx.min.js", SCRIPT, include_str!("assets/htmx.min.js")),
    ("uplot.min.js", SCRIPT, include_str!("assets/uplot.min.js")),
    ("uplot.min.css", CSS, include_str!("assets/uplot.min.css")),
];

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = ALL.iter().map(|(_, _, text)| *text).collect();
    let hash = sha256(all.as_bytes());
    HEXLOWER.encode(hash.first_chunk::<6>().unwrap_or(&[0; 6]))
});

pub(super) fn path(name: &str) -> String {
    format!("/dashboard/assets/{}/{name}", *VERSION)
}

pub(super) fn router() -> Router<App> {
    Router::new().route("/dashboard/assets/{version}/{name}", get(asset))
}

async fn asset(Path((_, name)): Path<(String, String)>) -> Result<Response, Error> {
    let found = ALL.iter().find(|(known, _, _)| *known == name);
    let (_, kind, text) = found.ok_or(Error::new(ErrorCode::RouteNotFound))?;
    let headers = [
        (header::CONTENT_TYPE, *kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, *text).into_response())
}
