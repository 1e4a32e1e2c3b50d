//! `POST /holds/{holdId}/settle`: what the work cost. In a batch also what it has cost so far.

use actors::{BatchAnswer, Charge, ChargeAnswer, Scope};
use axum::{extract::State, response::Response};
use domain::{
    Amount,
    catalog::KeyKind,
    rate_card::WorkCost,
    wallet::{draw::Draw, settle::Settle},
};
use edge::{
    body::Body,
    caller::{AnyKey, MayDeduct, SecretKey},
};
use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema, schema::AnyOfBuilder},
};
use wire::{
    Error, ErrorCode,
    field::{Credits, HoldName, KeyText, MetaObject, OnShortfallText, Text},
    respond,
    view::{self, Deducted, DrawnHold},
};

use crate::{
    api::{
        App,
        batch::{BatchItem, Checked},
        deduct::{CostNote, shortfall},
    },
    http::{
        hold_path::HoldPath,
        idempotency,
        metered::{CostChoice, metered_fields, pin},
        subject::refer,
    },
};

metered_fields! {
costs i64;
/// What the work cost: an amount, or what a rate card prices.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettleHold {
    /// The whole cost, what was drawn included. Less than was held or drawn gives the rest back; more takes the
    /// surplus from the balance. Needed unless `rateCard` is there.
    amount: Option<Credits>,
    /// What to do where the balance cannot cover a surplus: `refuse` (when left out) leaves the hold open, `drain`
    /// takes what can be spent, `owe` makes a debt of the rest as far as that may be.
    on_shortfall: Option<OnShortfallText>,
    /// A note for the ledger entry. Its keys replace those of the hold's note, whose other keys stay; together at most
    /// 4 KiB.
    meta: Option<MetaObject>,
}
}

pub(super) async fn settle_hold(
    State(app): State<App>,
    key: AnyKey<MayDeduct>,
    hold: HoldPath,
    body: Body,
) -> Result<Response, Error> {
    let mut request: SettleHold = body.parse()?;
    let mut cost = request.cost(&app.handle, &key)?;
    let note = CostNote::of(&cost, request.on_shortfall.is_some());
    let id = hold.id()?;
    pin((&app.handle, &app.edge.catalog), &key, id, &mut cost.cost).await?;
    let settle = Settle {
        hold: id,
        on_shortfall: shortfall(request.on_shortfall.as_ref()),
        publishable: key.kind() == KeyKind::Publishable,
        meta: cost.note(request.meta.map(|meta| meta.0)),
        cost: cost.cost,
    };
    let outcome = app.handle.settle(&key.scope, settle).await;
    app.edge.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(&note.answer(&applied), applied.replayed)
}

metered_fields! {
costs i64;
/// What the work cost that a hold was placed for: in all, or with `keepOpen` so far.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedCharge {
    hold_id: HoldName,
    /// Draws the amount, and leaves the hold open: a draw needs `idempotencyKey`, charges 1 credit or more and takes no
    /// `onShortfall`. When left out, the hold is settled.
    keep_open: Option<bool>,
    /// A settlement takes the whole cost, what was drawn included: less than was held or drawn gives the rest back; more
    /// takes the surplus from the balance. A draw takes what the work cost since the last one. Needed unless `rateCard`
    /// is there.
    amount: Option<Credits>,
    /// Names a draw: it is applied once. A settlement needs none: its hold names it.
    idempotency_key: Option<KeyText>,
    /// What to do where the balance cannot cover the surplus of a settlement: `refuse` (when left out) leaves the hold
    /// open, `drain` takes what can be spent, `owe` makes a debt of the rest as far as that may be.
    on_shortfall: Option<OnShortfallText>,
    /// A note for the ledger entry. Its keys replace those of the hold's note, whose other keys stay; together at most
    /// 4 KiB.
    meta: Option<MetaObject>,
}
}

/// What was charged.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Charged {
    Settled(Deducted),
    Drawn(DrawnHold),
}

// A draw's fields fit a settlement's schema, too: any of the two, not one.
impl PartialSchema for Charged {
    fn schema() -> RefOr<Schema> {
        let any = AnyOfBuilder::new().item(refer::<DrawnHold>());
        any.item(refer::<Deducted>()).into()
    }
}

impl ToSchema for Charged {
    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        components.push((DrawnHold::name().into_owned(), DrawnHold::schema()));
        components.push((Deducted::name().into_owned(), Deducted::schema()));
    }
}

impl BatchItem for ListedCharge {
    const NAMES: (&str, &str) = ("Settle", "SettleItem");
    const IN_ARCHIVED: bool = true;
    type Needs = MayDeduct;
    type Schema = CostChoice<Self>;
    type Command = Charge;
    /// `None` for a draw.
    type Note = Option<CostNote>;
    type Answer = ChargeAnswer;
    type Done = Charged;

    fn check(mut self, app: &App, project: &SecretKey<MayDeduct>) -> Result<Checked<Self>, Error> {
        let cost = self.cost(&app.handle, project)?;
        let Text(id) = self.hold_id;
        let hold = id.0.ok_or_else(|| id.refused(ErrorCode::HoldNotFound));
        let meta = cost.note(self.meta.map(|meta| meta.0));
        if self.keep_open != Some(true) {
            let note = CostNote::of(&cost, self.on_shortfall.is_some());
            let settle = |hold| Settle {
                hold,
                cost: cost.cost,
                on_shortfall: shortfall(self.on_shortfall.as_ref()),
                publishable: false,
                meta,
            };
            return Ok(hold.map(|hold| (Charge::Settle(settle(hold)), Some(note))));
        }
        let key = idempotency::required(self.idempotency_key)?;
        let least = "A draw charges 1 or more.";
        let cost = match cost.cost {
            WorkCost::Credits(amount) => Amount::new(amount)
                .map(WorkCost::Credits)
                .ok_or_else(|| Error::invalid("amount", least))?,
            WorkCost::Metered(used) => WorkCost::Metered(used),
        };
        if self.on_shortfall.is_some() {
            return Err(Error::invalid(
                "onShortfall",
                "A draw takes no onShortfall.",
            ));
        }
        let draw = |hold| Draw {
            hold,
            key,
            cost,
            meta,
        };
        Ok(hold.map(|hold| (Charge::Draw(draw(hold)), None)))
    }

    async fn send(app: &App, scope: &Scope, mut items: Vec<Charge>) -> BatchAnswer<ChargeAnswer> {
        // What cannot be read now has not been done.
        let project = app.edge.catalog.project(scope.project);
        let project = project.map_err(|_| actors::Error::Unavailable)?;
        let stored = (&app.handle, &*app.edge.catalog);
        for item in &mut items {
            let pinned = match item {
                Charge::Settle(settle) => {
                    pin(stored, &project, settle.hold, &mut settle.cost).await
                }
                Charge::Draw(draw) => pin(stored, &project, draw.hold, &mut draw.cost).await,
            };
            pinned.map_err(|_| actors::Error::Unavailable)?;
        }
        app.handle.charge_batch(scope, items).await
    }

    fn done(
        app: &App,
        outcome: Result<ChargeAnswer, actors::Error>,
        note: Self::Note,
    ) -> Result<Charged, actors::Error> {
        match (&outcome, &note) {
            (Ok(ChargeAnswer::Settled(applied)), _) => app.edge.metrics.deducted(Ok(applied)),
            (Err(error), Some(_)) => app.edge.metrics.deducted(Err(error)),
            (Ok(ChargeAnswer::Drawn(_)) | Err(_), _) => {}
        }
        Ok(match outcome? {
            ChargeAnswer::Settled(applied) => {
                Charged::Settled(note.unwrap_or_default().answer(&applied))
            }
            ChargeAnswer::Drawn(drawn) => Charged::Drawn(view::drawn_hold(&drawn)),
        })
    }
}
