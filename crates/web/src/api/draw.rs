//! `POST /holds/{holdId}/draw`: charging a part of a hold while the work goes on.

use axum::{extract::State, response::Response};
use domain::wallet::draw::Draw;
use edge::{AnyKey, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{KeyText, MetaObject, Positive},
    respond,
    view::{self},
};

use crate::{
    api::App,
    http::{
        hold_path::{HoldPath, access},
        idempotency::KeyHeader,
    },
};

/// Credits to charge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DrawHold {
    /// Credits that the work cost since the last draw.
    amount: Positive,
    /// Names the operation: it is applied once, whichever of the wallet's holds it is for. The header
    /// `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// A note for the ledger entry: it is laid over that of the hold, whose other keys stay. Both are at most 4 KiB
    /// together.
    meta: Option<MetaObject>,
}

pub(super) async fn draw_hold(
    State(app): State<App>,
    key: AnyKey,
    hold: HoldPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: DrawHold = body.parse()?;
    let draw = Draw {
        key: header.or(request.idempotency_key)?,
        hold: hold.id()?,
        amount: request.amount.0,
        meta: request.meta.map(|meta| meta.0),
    };
    let answer = app.handle.draw(&key.scope, access(&key), draw).await;
    let answer = answer.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(&view::drawn_hold(&answer), answer.replayed)
}
