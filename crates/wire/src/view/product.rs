//! What callers see of products and prices.

use ::catalog::ProjectCatalog;
use domain::{catalog, id::ProductId};
use serde::Serialize;
use utoipa::ToSchema;

/// A product with its active prices.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Product {
    /// The product's identifier: `prod_…`
    id: String,
    name: String,
    description: Option<String>,
    /// `credits`, `subscription` or `one_time`
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "credits")]
    kind: catalog::ProductType,
    /// What its credits are called; null when it holds none.
    credit_unit: Option<String>,
    /// Credits that every wallet gets each period; null when there are none.
    free_grant: Option<FreeGrant>,
    prices: Vec<Price>,
}

/// Credits that are granted for free.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FreeGrant {
    credits: i64,
    /// `once`, `daily`, `weekly`, `monthly` or `yearly`
    #[schema(value_type = String, example = "monthly")]
    period: domain::time::Period,
}

/// A price of a product; of a subscription, a tier.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// The price's identifier: `price_…`
    id: String,
    /// The tier's name, for a subscription.
    label: Option<String>,
    /// In the currency's minor unit.
    amount_cents: i64,
    /// ISO 4217, upper case.
    currency: String,
    /// Credits that it grants; for a subscription tier, each cycle.
    credits_granted: i64,
    /// Features that it unlocks.
    features: Vec<String>,
    /// `one_time`, `month` or `year`
    #[schema(value_type = String, example = "one_time")]
    interval: catalog::Interval,
    /// The product whose balance it fills, where that is not its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    credits_product_id: Option<String>,
    /// Days until the credits expire; left out: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    credits_expire_after_days: Option<u32>,
    /// Whether a cycle's unused credits stay.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rollover: bool,
    /// Days for which a subscription is free at first; left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial_days: Option<u32>,
    /// Credits for those days; left out without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial_credits: Option<i64>,
    /// Whether a wallet that has bought what it unlocks may buy it again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    repeatable: bool,
}

impl Product {
    /// A product as the catalog of its project has it.
    pub fn of(product: &catalog::Product, project: &ProjectCatalog) -> Self {
        let grant = |grant: catalog::FreeGrant| FreeGrant {
            credits: grant.credits.get(),
            period: grant.period,
        };
        Self {
            id: product.id.to_string(),
            name: product.name.clone(),
            description: product.description.clone(),
            kind: product.kind,
            credit_unit: product.credit_unit.clone(),
            free_grant: product.free_grant.map(grant),
            prices: project.active_prices(&product.id).map(Price::of).collect(),
        }
    }
}

impl Price {
    /// A price as the catalog has it.
    pub fn of(price: &catalog::Price) -> Self {
        Self {
            id: price.id.to_string(),
            label: price.label.clone(),
            amount_cents: price.amount_cents,
            currency: price.currency.clone(),
            credits_granted: price.credits_granted,
            features: price
                .features
                .iter()
                .map(|feature| feature.as_str().to_owned())
                .collect(),
            interval: price.interval,
            credits_product_id: price.credits_product.map(|id| id.to_string()),
            credits_expire_after_days: price.credits_expire_after_days,
            rollover: price.rollover,
            trial_days: price.trial_days,
            trial_credits: price.trial_days.map(|_| price.trial_credits),
            repeatable: price.repeatable,
        }
    }

    /// The active prices that would fill this product's balance by at least the shortfall.
    pub fn covering(project: &ProjectCatalog, filled: ProductId, shortfall: i64) -> Vec<Self> {
        let offered = project.products().filter(|product| product.active);
        let prices = offered.flat_map(|product| project.active_prices(&product.id));
        prices
            .filter(|price| price.credits_product.unwrap_or(price.product) == filled)
            .filter(|price| price.credits_granted >= shortfall)
            .map(Self::of)
            .collect()
    }
}
