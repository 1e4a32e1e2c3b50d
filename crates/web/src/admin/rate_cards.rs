//! Rate cards: put, list, show, close.

use std::sync::Arc;

use api_types::{Rate, RateCard, RateCards};
use axum::{Json, http::StatusCode, response::Response};
use domain::rate_card::{self, PutRateCard, RateCardSlug, RateList};
use edge::{Read, body::BatchBody};
use operator::{CloseRateCard, SaveRateCard};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use wire::{
    Error, ErrorCode,
    field::{InstantText, ProductName, Text},
    respond,
    view::rate_card,
};

use super::call::AdminCall;
use crate::http::{query::Params, subject::product};

/// A rate card, or its next version.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PutRateCard)]
pub(super) struct Put {
    /// The product whose credits the prices are in.
    product_id: ProductName,
    /// 1 to 1,000 rates. Where several match, the one with most attributes counts; no two may tie.
    #[schema(value_type = Vec<Rate>, example = json!([{"match": {"model": "claude-sonnet-4*"}, "unitPrices": {"input": "3", "output": "15"}, "per": 1000}]))]
    rates: Vec<rate_card::Rate>,
    /// When the version begins to count; now when left out.
    effective_from: Option<InstantText>,
}

/// Which version to show.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct VersionQuery {
    /// The version's number; the one in force when left out.
    version: Option<u32>,
}

pub(super) async fn put(call: AdminCall<SaveRateCard>, body: BatchBody) -> Result<Response, Error> {
    let body: Put = body.parse()?;
    let rates = RateList::new(body.rates)?;
    let project = call.project()?;
    let put = PutRateCard {
        slug: call.path.new_rate_card()?,
        product: product(&body.product_id, &project)?,
        rates: Arc::new(rates),
        effective_from: body.effective_from.map(|Text(from)| from),
    };
    let slug = put.slug.clone();
    let saved = call.run(project, SaveRateCard(put)).await?;
    respond::json(&rate_card(&slug, &saved))
}

pub(super) async fn list(call: AdminCall<Read>) -> Result<Json<RateCards>, Error> {
    let project = call.project()?;
    let now = call.app.handle.now_in(&project.scope);
    let cards = project.rate_cards().filter_map(|found| {
        let shown = found.in_force_or_first(now)?;
        Some(rate_card(&found.card.slug, &shown))
    });
    Ok(Json(RateCards {
        rate_cards: cards.collect(),
    }))
}

pub(super) async fn show(
    call: AdminCall<Read>,
    Params(VersionQuery { version }): Params<VersionQuery>,
) -> Result<Json<RateCard>, Error> {
    let project = call.project()?;
    let slug: RateCardSlug = call.path.rate_card()?;
    let missing = || Error::new(ErrorCode::RateCardNotFound);
    let found = match version {
        Some(number) => {
            let catalog = &call.app.catalog;
            catalog.rate_card_version(&project, &slug, number).await?
        }
        None => {
            let found = project.rate_card(&slug).ok_or_else(missing)?;
            found.in_force_or_first(call.app.handle.now_in(&project.scope))
        }
    };
    Ok(Json(rate_card(&slug, &found.ok_or_else(missing)?)))
}

pub(super) async fn close(call: AdminCall<CloseRateCard>) -> Result<StatusCode, Error> {
    let slug = call.path.rate_card()?;
    let project = call.project()?;
    call.run(project, CloseRateCard(slug)).await?;
    Ok(StatusCode::NO_CONTENT)
}
