//! The clients' npm packages of this very version, as `scrip dev` hands them out until a registry has them:
//! `npm i http://127.0.0.1:8787/packages/scrip-react.tgz`.

use std::path::Path;

use axum::Router;
use tower_http::services::ServeDir;

/// Serves the files of a folder under `/packages/`.
pub fn router(folder: &Path) -> Router {
    let files = ServeDir::new(folder).append_index_html_on_directories(false);
    Router::new().nest_service("/packages", files)
}
