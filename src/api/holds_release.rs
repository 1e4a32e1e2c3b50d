//! `POST /holds/{holdId}/release`: giving a hold back.

use axum::{extract::State, response::Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{
        Error,
        auth::AnyKey,
        hold_path::{HoldPath, access},
        respond,
    },
    state::App,
};

/// The balance after the release.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Released {
    /// Credits that can be spent now.
    balance: i64,
}

/// Release a hold
///
/// Takes no body. Repeating it answers the current balance and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/holds/{holdId}/release",
    tag = "Holds",
    params(("holdId" = String, Path, description = "`hold_…`")),
    responses((status = 200, description = "Released, now or before", body = Released)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!(["secret_key_required", "hold_not_found", "too_many_invalid_codes", "hold_closed"]))),
)]
pub(super) async fn release_hold(
    State(app): State<App>,
    key: AnyKey,
    hold: HoldPath,
) -> Result<Response, Error> {
    let applied = app
        .handle
        .release(&key.scope, access(&key), hold.id()?)
        .await;
    let applied = applied.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(
        &Released {
            balance: applied.balance,
        },
        applied.replayed,
    )
}
