//! `GET /holds/{holdId}`: a hold and its status.

use axum::{extract::State, response::Response};

use crate::{
    http::{
        Error,
        auth::AnyKey,
        hold_path::{HoldPath, access},
        respond,
        view::Hold,
    },
    state::App,
};

/// Read a hold
///
/// A publishable key reads the holds of code wallets.
#[utoipa::path(
    get,
    path = "/api/v1/holds/{holdId}",
    tag = "Holds",
    params(("holdId" = String, Path, description = "`hold_…`")),
    responses((status = 200, description = "The hold", body = Hold)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!(["secret_key_required", "hold_not_found", "too_many_invalid_codes"]))),
)]
pub(super) async fn read_hold(
    State(app): State<App>,
    key: AnyKey,
    hold: HoldPath,
) -> Result<Response, Error> {
    let answer = app.handle.hold(&key.scope, access(&key), hold.id()?).await;
    let answer = answer.map_err(|error| hold.refused(error, &key))?;
    respond::json(&Hold::from(&answer))
}
