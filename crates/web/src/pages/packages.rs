//! The packages of the clients of this version, which no registry has yet:
//! `npm i http://127.0.0.1:8787/packages/scrip-wallet-react.tgz`.

use std::{
    future::ready,
    path::{Path, PathBuf},
};

use axum::{Router, routing::any};
use tower_http::services::ServeDir;
use wire::{Error, ErrorCode};

/// Where packages and `scripts/pack-clients` put them: beside the program (an archive), or beside its folder.
const FOLDER: &str = "share/scrip/packages";

/// Serves the files of a folder under `/packages/`: by default the one that was installed with this program.
pub fn router(folder: Option<PathBuf>) -> Router {
    let served = match folder.or_else(installed) {
        Some(folder) => {
            let missing = any(|| ready(refusal("This is none of the clients' packages.")));
            let files = ServeDir::new(folder).append_index_html_on_directories(false);
            Router::new().fallback_service(files.not_found_service(missing))
        }
        None => Router::new().fallback(|| {
            ready(refusal(
                "The clients' packages are not installed here. In a checkout, scripts/pack-clients makes them.",
            ))
        }),
    };
    Router::new().nest("/packages", served)
}

fn refusal(message: &'static str) -> Error {
    Error::new(ErrorCode::RouteNotFound).saying(message)
}

fn installed() -> Option<PathBuf> {
    // Without /proc the program is only known as it was called.
    let called = || std::env::args_os().next().map(PathBuf::from);
    let program = std::env::current_exe().ok().or_else(called)?;
    let folders = program.ancestors().skip(1).take(2);
    folders
        .map(|folder: &Path| folder.join(FOLDER))
        .find(|folder| folder.is_dir())
}
