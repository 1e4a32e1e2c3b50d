//! `POST /holds/{holdId}/draw`: charging a part of a hold while the work goes on.

use axum::{extract::State, response::Response};
use domain::wallet::draw::Draw;
use edge::{
    body::Body,
    caller::{AnyKey, MayDeduct},
};
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
        metered::{metered_fields, pin},
    },
};

metered_fields! {
costs domain::Amount;
/// What to charge: an amount, or what a rate card prices.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DrawHold {
    /// Credits that the work cost since the last draw. Needed unless `rateCard` is there.
    amount: Option<Positive>,
    /// Names the operation: it is applied once, whichever of the wallet's holds it is for. The header
    /// `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// A note for the ledger entry: it is laid over that of the hold, whose other keys stay. Both are at most 4 KiB
    /// together.
    meta: Option<MetaObject>,
}
}

pub(super) async fn draw_hold(
    State(app): State<App>,
    key: AnyKey<MayDeduct>,
    hold: HoldPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let mut request: DrawHold = body.parse()?;
    let mut cost = request.cost(&app.handle, &key)?;
    let id = hold.id()?;
    pin((&app.handle, &app.edge.catalog), &key, id, &mut cost.cost).await?;
    let draw = Draw {
        key: header.or(request.idempotency_key)?,
        hold: id,
        meta: cost.note(request.meta.map(|meta| meta.0)),
        cost: cost.cost,
    };
    let answer = app.handle.draw(&key.scope, access(&key), draw).await;
    let answer = answer.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(&view::drawn_hold(&answer), answer.replayed)
}
