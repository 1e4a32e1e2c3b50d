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

/// The terms of one sale, copied from a [`Price`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The price that was bought.
    pub price: PriceId,
    /// The price's product.
    pub product: ProductId,
    /// The product whose balance it fills.
    pub fills: ProductId,
    /// Credits that it brings, 0 to [`MAX_CREDITS`].
    pub credits: i64,
    /// Days until the credits expire; `None`: never.
    pub expire_after_days: Option<u32>,
    /// Whether unused credits stay when their cycle ends.
    pub rollover: bool,
    /// Features that it unlocks.
    pub features: BTreeSet<Feature>,
    /// How often it is charged.
    pub interval: Interval,
    /// Days of a free trial at the start of a subscription.
    pub trial_days: Option<u32>,
    /// Credits that the trial brings.
    pub trial_credits: i64,
    /// Whether a wallet that has its features may buy it again.
    pub repeatable: bool,
    /// The tier's name.
    pub label: Option<Box<str>>,
    /// The price in the currency's minor unit, before any discount; 0 or more.
    pub amount_cents: i64,
    /// The currency's ISO 4217 code, upper case.
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

    /// The cents and credits of this quantity. `None` if either passes [`MAX_CREDITS`], or for more than one of a
    /// recurring price.
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

    /// A tier with a quantity, such as seats, as one tier that costs and brings all of it.
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

    /// Whether it brings only features that are kept for good: a wallet that has them all gains nothing by it.
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
