//! `GET /rate-cards…` and `POST /estimate`: what things cost.

use actors::Address;
use api_types::{Estimate, EstimateLine, RateCards};
use axum::{extract::State, response::Response};
use domain::{catalog::KeyKind, rate_card::Unrated};
use edge::{
    body::Body,
    caller::{AnyKey, MayRead},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{CodeText, UserText},
    respond, view,
};

use super::App;
use crate::http::{
    metered::{metered_fields, version_in_force},
    rate_card_path::RateCardPath,
    subject::NamedWallet,
};

pub(super) async fn rate_cards(
    State(app): State<App>,
    key: AnyKey<MayRead>,
) -> Result<Response, Error> {
    let now = app.handle.now_in(&key.scope);
    let cards = key.rate_cards().filter_map(|found| {
        let version = found.in_force(now)?;
        Some(view::rate_card(&found.card.slug, &version))
    });
    respond::json(&RateCards {
        rate_cards: cards.collect(),
    })
}

pub(super) async fn rate_card(
    State(app): State<App>,
    key: AnyKey<MayRead>,
    path: RateCardPath,
) -> Result<Response, Error> {
    let slug = path.slug()?;
    let version = version_in_force(&key, slug, app.handle.now_in(&key.scope));
    let version = version.ok_or(Unrated::NoCard)?;
    respond::json(&view::rate_card(slug, &version))
}

metered_fields! {
/// What to estimate the cost of.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EstimateRequest {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
}
}

pub(super) async fn estimate(
    State(app): State<App>,
    key: AnyKey<MayRead>,
    body: Body,
) -> Result<Response, Error> {
    let mut request: EstimateRequest = body.parse()?;
    let used = request.used().required()?;
    let named = NamedWallet::of(request.external_user_id, request.code)?;
    let named = NamedWallet::for_caller(named, key.session())?;
    if let Some(NamedWallet::At(Address::External(_))) = &named
        && key.kind() == KeyKind::Publishable
    {
        return Err(Error::new(ErrorCode::SecretKeyRequired));
    }
    let now = app.handle.now_in(&key.scope);
    let version = version_in_force(&key, &used.card, now).ok_or(Unrated::NoCard)?;
    let mut lines = Vec::new();
    let table = &version.rates.table;
    let rated = table.explain(&used.attributes, &used.quantities, |line| {
        lines.push(EstimateLine {
            unit: line.unit.to_owned(),
            quantity: line.quantity,
            unit_price: line.unit_price.to_string(),
            per: line.per,
            cost: line.cost.to_string(),
        });
    });
    let rated = rated.map_err(Unrated::from)?;
    let cost = rated.cost.max(rated.minimum);
    let amount = cost.rounded_up();
    let balance = match &named {
        None => None,
        Some(wallet) => {
            let read = app.handle.read(&key.scope, wallet.address()?).await;
            let view = read.map_err(|error| wallet.refused(error, &key))?;
            let mut balances = view.balances.iter();
            let found = balances.find(|it| it.product == version.version.product);
            Some(found.map_or(0, |found| found.balance))
        }
    };
    respond::json(&Estimate {
        amount,
        cost: cost.to_string(),
        rate_version: version.version.number,
        lines,
        balance,
        affordable: balance.map(|balance| amount <= balance),
    })
}
