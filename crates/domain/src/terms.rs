//! What an order buys: the price at the time of the order. Later changes of the price do not affect past sales.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use crate::{
    amount::{MAX_CREDITS, Quantity},
    catalog::{Interval, Price},
    id::{PriceId, ProductId},
    text::Feature,
    time::{DAY_SECONDS, Timestamp},
};

/// What a sale brings beyond its payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excess {
    /// Credits that nobody paid for.
    pub credits: i64,
    /// What is missing of the price, in the minor unit of the price's currency.
    pub cents: i64,
}

/// The terms of one sale, copied from a [`Price`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Terms {
    pub price: PriceId,
    pub product: ProductId,
    /// The product whose balance it fills.
    pub fills: ProductId,
    /// Credits that it brings, 0 to [`MAX_CREDITS`].
    pub credits: i64,
    /// Days until the credits expire; `None`: never.
    pub expire_after_days: Option<u32>,
    /// Whether unused credits stay when their cycle ends.
    pub rollover: bool,
    pub features: BTreeSet<Feature>,
    pub interval: Interval,
    /// Days of a free trial at the start of a subscription.
    pub trial_days: Option<u32>,
    pub trial_credits: i64,
    /// Whether a wallet that has its features may buy it again.
    pub repeatable: bool,
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

    /// What they bring beyond a payment of this amount: credits in proportion to what it lacks. Without a price, or
    /// with another currency, nothing can be compared: then it is all credits.
    #[must_use]
    pub fn beyond(&self, paid_cents: i64, currency: &str) -> Excess {
        let price = self.amount_cents.max(0);
        let paid = match *currency == *self.currency {
            true => paid_cents.clamp(0, price),
            false => 0,
        };
        let product = i128::from(self.credits).checked_mul(i128::from(paid));
        let paid_for = product.and_then(|product| product.checked_div(i128::from(price)));
        let paid_for = paid_for.and_then(|credits| i64::try_from(credits).ok());
        Excess {
            credits: self.credits.saturating_sub(paid_for.unwrap_or(0)),
            cents: price.saturating_sub(paid),
        }
    }

    /// A tier times a quantity, such as seats, as one tier.
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

    /// Whether it brings only permanent features: a wallet that has them all gains nothing.
    pub fn is_unlock(&self) -> bool {
        !self.recurs() && self.credits == 0 && !self.features.is_empty()
    }

    /// Whether it is charged each cycle.
    pub fn recurs(&self) -> bool {
        self.interval != Interval::OneTime
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_paid_for_is_beyond_it() {
        let terms = |cents, credits| Terms {
            price: PriceId(1),
            product: ProductId(1),
            fills: ProductId(1),
            credits,
            expire_after_days: None,
            rollover: false,
            features: BTreeSet::new(),
            interval: Interval::OneTime,
            trial_days: None,
            trial_credits: 0,
            repeatable: false,
            label: None,
            amount_cents: cents,
            currency: "EUR".into(),
        };
        for (price, credits, paid, currency, expected) in [
            (900, 100, 900, "EUR", (0, 0)),
            (900, 100, 1000, "EUR", (0, 0)),
            (900, 100, 450, "EUR", (50, 450)),
            (900, 100, 899, "EUR", (1, 1)),
            (900, 100, 900, "USD", (100, 900)),
            (900, 100, -5, "EUR", (100, 900)),
            (0, 100, 50, "EUR", (100, 0)),
            (0, 0, 0, "EUR", (0, 0)),
            (
                MAX_CREDITS,
                MAX_CREDITS,
                1,
                "EUR",
                (MAX_CREDITS - 1, MAX_CREDITS - 1),
            ),
        ] {
            let beyond = terms(price, credits).beyond(paid, currency);
            let seen = (beyond.credits, beyond.cents);
            assert_eq!(seen, expected, "{price} {credits} {paid} {currency}");
        }
    }
}
