//! The cluster: hand the log over to another process.

use axum::{extract::State, http::StatusCode};
use edge::auth::Administrator;
use operations::cluster::NobodyFollows;
use wire::{Error, ErrorCode};

use crate::admin::App;

/// Hand the log over: the process that leads finishes what is in flight and ends, to be started anew as a follower, and
/// another takes its place. Requests meanwhile are held.
#[utoipa::path(
    post,
    path = "/cluster/hand-over",
    operation_id = "handOver",
    tag = "Cluster",
    responses((status = 202, description = "The process that led stops; another one takes over.")),
    extensions(("x-errors" = json!(["nobody_follows"])))
)]
pub(super) async fn hand_over(
    _: Administrator,
    State(app): State<App>,
) -> Result<StatusCode, Error> {
    let nobody = || Error::new(ErrorCode::NobodyFollows);
    let cluster = app.cluster.as_ref().ok_or_else(nobody)?;
    let asked = cluster.hand_over().await;
    asked.map_err(|NobodyFollows| nobody())?;
    Ok(StatusCode::ACCEPTED)
}
