//! `POST /holds/{holdId}/settle`: closing a hold by its cost.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    http::{
        AnyKey, Body, Error,
        field::Credits,
        hold_path::{HoldPath, access},
        respond,
        view::Deducted,
    },
    state::App,
};

/// What the work cost.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SettleHold)]
pub(super) struct Request {
    /// Credits to deduct. Less than was held returns the rest; more takes the surplus from the
    /// balance.
    amount: Credits,
}

/// Settle a hold
///
/// Where the balance cannot cover a surplus the hold stays open. Repeating a settlement answers the
/// current balance, `deducted: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/holds/{holdId}/settle",
    tag = "Holds",
    params(("holdId" = String, Path, description = "`hold_…`")),
    request_body = Request,
    responses((status = 200, description = "Settled, now or before", body = Deducted)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "secret_key_required", "hold_not_found", "too_many_invalid_codes", "hold_closed", "insufficient_credits"
    ]))),
)]
pub(super) async fn settle_hold(
    State(app): State<App>,
    key: AnyKey,
    hold: HoldPath,
    body: Body,
) -> Result<Response, Error> {
    let Request { amount } = body.parse()?;
    let outcome = app
        .handle
        .settle(&key.scope, access(&key), hold.id()?, amount.0)
        .await;
    app.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(&Deducted::from(applied), applied.replayed)
}
