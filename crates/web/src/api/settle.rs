//! `POST /holds/{holdId}/settle`: what the work cost.

use axum::{extract::State, response::Response};
use domain::{catalog::KeyKind, wallet::settle::Settle};
use edge::{AnyKey, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{Credits, MetaObject, OnShortfallText},
    respond,
    view::{self},
};

use crate::{
    api::{App, deduct::shortfall},
    http::hold_path::HoldPath,
};

/// What the work cost.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettleHold {
    /// The whole cost, what was drawn included. Less than was held or drawn gives the rest back; more takes the
    /// surplus from the balance.
    amount: Credits,
    /// What to do where the balance cannot cover a surplus: `refuse` (when left out) leaves the hold open, `drain`
    /// takes what can be spent, `owe` makes a debt of the rest as far as that may be.
    on_shortfall: Option<OnShortfallText>,
    /// A note for the ledger entry. Its keys replace those of the hold's note, whose other keys stay; together at most
    /// 4 KiB.
    meta: Option<MetaObject>,
}

pub(super) async fn settle_hold(
    State(app): State<App>,
    key: AnyKey,
    hold: HoldPath,
    body: Body,
) -> Result<Response, Error> {
    let SettleHold {
        amount,
        on_shortfall,
        meta,
    } = body.parse()?;
    let names_shortfall = on_shortfall.is_some();
    let settle = Settle {
        hold: hold.id()?,
        amount: amount.0,
        on_shortfall: shortfall(on_shortfall.as_ref()),
        publishable: key.kind() == KeyKind::Publishable,
        meta: meta.map(|meta| meta.0),
    };
    let outcome = app.handle.settle(&key.scope, settle).await;
    app.edge.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(
        &view::deducted(&applied, amount.0, names_shortfall),
        applied.replayed,
    )
}
