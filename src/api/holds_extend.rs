//! `POST /holds/{holdId}/extend`: giving a hold more time.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::holds_create::MAX_SECONDS;
use crate::{
    http::{
        Error,
        auth::AnyKey,
        body::Body,
        field::Whole,
        hold_path::{HoldPath, access},
        respond,
        subject::required,
        view::Hold,
    },
    state::App,
};

/// How long from now.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExtendHold)]
pub(super) struct Request {
    /// From now until the credits come back by themselves.
    #[schema(value_type = u32, required, nullable = false, minimum = 1, maximum = 86400)]
    expires_in_seconds: Option<Whole<1, MAX_SECONDS>>,
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
    extensions(("x-errors" = json!(["secret_key_required", "hold_not_found", "hold_closed"]))),
)]
pub(super) async fn extend_hold(
    State(app): State<App>,
    key: AnyKey,
    hold: HoldPath,
    body: Body,
) -> Result<Response, Error> {
    let request: Request = body.parse()?;
    let Whole(seconds) = required(request.expires_in_seconds, "expiresInSeconds")?;
    // At most a day: it fits.
    let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
    let answer = app
        .handle
        .extend(&key.scope, access(&key), hold.id()?, seconds)
        .await;
    let answer = answer.map_err(|error| Error::from_wallet(error, &key))?;
    respond::replayable(&Hold::from(&answer), answer.replayed)
}
