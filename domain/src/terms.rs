//! What an order buys: the price as it was when the order was placed. A price changed later changes
//! nothing that was sold before.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use crate::{
    amount::{MAX_CREDITS, Quantity},
    catalog::{Interval, Price},
    id::{PriceId, ProductId},
    text::Feature,
    time::Timestamp,
};

const DAY_SECONDS: i64 = 86_400;

/// One sale's conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// Under which price.
    pub price: PriceId,
    /// The price's product.
    pub product: ProductId,
    /// The product whose balance it fills.
    pub fills: ProductId,
    /// Credits for it, 0 to [`MAX_CREDITS`].
    pub credits: i64,
    /// Days until the credits expire; `None`: never.
    pub expire_after_days: Option<u32>,
    /// Whether a cycle's unused credits stay.
    pub rollover: bool,
    /// Features that it unlocks.
    pub features: BTreeSet<Feature>,
    /// How often it is charged.
    pub interval: Interval,
    /// Days for which a tier is free at first.
    pub trial_days: Option<u32>,
    /// Credits for those days.
    pub trial_credits: i64,
    /// Whether a wallet may buy what it unlocks once more.
    pub repeatable: bool,
    /// The tier's name.
    pub label: Option<Box<str>>,
    /// In the currency's minor unit, before any discount; 0 or more.
    pub amount_cents: i64,
    /// ISO 4217, upper case.
    pub currency: Box<str>,
}

impl From<&Price> for Terms {
    fn from(price: &Price) -> Self {
        Self {
            price: price.id,
            product: price.product,
            fills: price.credits_product.unwrap_or(price.product),
            credits: price.credits_granted.clamp(0, MAX_CREDITS),
            expire_after_days: price.credits_expire_after_days,
            rollover: price.rollover,
            features: price.features.clone(),
            interval: price.interval,
            trial_days: price.trial_days,
            trial_credits: price.trial_credits.clamp(0, MAX_CREDITS),
            repeatable: price.repeatable,
            label: price.label.as_deref().map(Box::from),
            amount_cents: price.amount_cents.max(0),
            currency: price.currency.as_str().into(),
        }
    }
}

impl Terms {
    /// When credits granted now expire.
    #[must_use]
    pub fn credits_expire_at(&self, now: Timestamp) -> Option<Timestamp> {
        let days = i64::from(self.expire_after_days?);
        Some(now.plus_seconds(days.saturating_mul(DAY_SECONDS)))
    }

    /// What so many of it cost and bring: cents and credits. `None`: more than anybody can count, or more
    /// than one of what is charged again each cycle.
    #[must_use]
    pub fn times(&self, quantity: Quantity) -> Option<(i64, i64)> {
        let bounded = |each: i64| {
            let all = each.checked_mul(quantity.get().into())?;
            (all <= MAX_CREDITS).then_some(all)
        };
        if quantity != Quantity::ONE && self.recurs() {
            return None;
        }
        if quantity == Quantity::ONE {
            return Some((self.amount_cents, self.credits));
        }
        Some((bounded(self.amount_cents)?, bounded(self.credits)?))
    }

    /// A tier that is had so many times, such as once for each seat: as one that costs and brings as much.
    #[must_use]
    pub fn many(self, quantity: Quantity) -> Self {
        let times = |each: i64| quantity.of(each).min(MAX_CREDITS);
        Self {
            credits: times(self.credits),
            trial_credits: times(self.trial_credits),
            amount_cents: quantity.of(self.amount_cents),
            ..self
        }
    }

    /// Whether it brings nothing but features that are kept for good: a wallet that has them all gains nothing by
    /// it.
    #[must_use]
    pub fn is_unlock(&self) -> bool {
        !self.recurs() && self.credits == 0 && !self.features.is_empty()
    }

    /// Whether it is charged again each cycle.
    #[must_use]
    pub fn recurs(&self) -> bool {
        self.interval != Interval::OneTime
    }
}
