//! Prices.

use domain::{
    Timestamp, catalog,
    id::{PriceId, ProductId, ProjectId},
    text::Feature,
};
use serde::{Deserialize, Serialize};

use super::{kind::Interval, read::text};
use crate::contract::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Price<'a> {
    id: u128,
    project: u128,
    product: u128,
    label: Option<&'a str>,
    amount_cents: i64,
    currency: &'a str,
    credits_granted: i64,
    credits_product: Option<u128>,
    credits_expire_after_days: Option<u32>,
    rollover: bool,
    features: Vec<&'a str>,
    interval: Interval,
    trial_days: Option<u32>,
    trial_credits: i64,
    repeatable: bool,
    active: bool,
    created_at: i64,
}

impl<'a> From<&'a catalog::Price> for Price<'a> {
    fn from(from: &'a catalog::Price) -> Self {
        let catalog::Price {
            id,
            project,
            product,
            label,
            amount_cents,
            currency,
            credits_granted,
            credits_product,
            credits_expire_after_days,
            rollover,
            features,
            interval,
            trial_days,
            trial_credits,
            repeatable,
            active,
            created_at,
        } = from;
        Self {
            id: id.0,
            project: project.0,
            product: product.0,
            label: label.as_deref(),
            amount_cents: *amount_cents,
            currency,
            credits_granted: *credits_granted,
            credits_product: credits_product.map(|ProductId(product)| product),
            credits_expire_after_days: *credits_expire_after_days,
            rollover: *rollover,
            features: features.iter().map(Feature::as_str).collect(),
            interval: (*interval).into(),
            trial_days: *trial_days,
            trial_credits: *trial_credits,
            repeatable: *repeatable,
            active: *active,
            created_at: created_at.0,
        }
    }
}

impl TryFrom<Price<'_>> for catalog::Price {
    type Error = Error;

    fn try_from(from: Price<'_>) -> Result<Self, Error> {
        let features = from.features.into_iter();
        let features = features.map(|slug| text(slug, Feature::new));
        Ok(Self {
            id: PriceId(from.id),
            project: ProjectId(from.project),
            product: ProductId(from.product),
            label: from.label.map(str::to_owned),
            amount_cents: from.amount_cents,
            currency: from.currency.into(),
            credits_granted: from.credits_granted,
            credits_product: from.credits_product.map(ProductId),
            credits_expire_after_days: from.credits_expire_after_days,
            rollover: from.rollover,
            features: features.collect::<Result<_, Error>>()?,
            interval: from.interval.into(),
            trial_days: from.trial_days,
            trial_credits: from.trial_credits,
            repeatable: from.repeatable,
            active: from.active,
            created_at: Timestamp(from.created_at),
        })
    }
}
