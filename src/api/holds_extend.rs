//! `POST /holds/{holdId}/extend`: giving a hold more time.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    http::{
        AnyKey, Body, Error,
        field::Seconds,
        hold_path::{HoldPath, access},
        respond,
        view::Hold,
    },
    state::App,
};

/// How long a hold lasts from now.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExtendHold)]
pub(super) struct Request {
    /// Seconds from now until the credits come back by themselves.
    expires_in_seconds: Seconds,
}

/// Extend a hold
///
/// Counted from now. A hold is never shortened, so that a retry is harmless.
#[utoipa::path(
    post,
    path = "/api/v1/holds/{holdId}/extend",
    tag = "Holds",
    params(("holdId" = String, Path, description = "`hold_…`")),
    request_body = Request,
    responses((status = 200, description = "The hold", body = Hold)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!(["secret_key_required", "hold_not_found", "too_many_invalid_codes", "hold_closed"]))),
)]
pub(super) async fn extend_hold(
    State(app): State<App>,
    key: AnyKey,
    hold: HoldPath,
    body: Body,
) -> Result<Response, Error> {
    let Request { expires_in_seconds } = body.parse()?;
    let seconds = expires_in_seconds.small();
    let answer = app
        .handle
        .extend(&key.scope, access(&key), hold.id()?, seconds)
        .await;
    let answer = answer.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(&Hold::from(&answer), answer.replayed)
}
