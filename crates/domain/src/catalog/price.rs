//! A price: what a product costs and brings. Its terms never change, so that past sales stay as they were.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    ProductType, Products, Refusal, charge,
    rules::{self, MAX_NAME, ensure},
};
use crate::{
    Quantity,
    id::{PriceId, ProductId, ProjectId},
    limit::Limit,
    text::Feature,
    time::Timestamp,
};

/// A hundred years, in days.
const MAX_EXPIRY_DAYS: i64 = 36_525;
/// Two years, the longest trial that Stripe takes (see "Configure free trials").
const MAX_TRIAL_DAYS: i64 = 730;
/// The most prices that a customer can choose between in Stripe's portal (`subscription_update.products`).
const MAX_TIERS: usize = 10;

/// How often a price is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// Charged once, at checkout.
    #[default]
    OneTime,
    /// Charged each month.
    Month,
    /// Charged each year.
    Year,
}

/// What a product costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Price {
    pub id: PriceId,
    pub project: ProjectId,
    pub product: ProductId,
    pub label: Option<String>,
    /// The amount in the currency's minor unit, 0 to 2^53 - 1.
    pub amount_cents: i64,
    pub currency: String,
    /// Credits that each payment brings, 0 to 2^53 - 1.
    pub credits_granted: i64,
    /// The product whose balance it fills, if not its own.
    pub credits_product: Option<ProductId>,
    /// Days until the credits expire, 1 to 36,525; `None`: never.
    pub credits_expire_after_days: Option<u32>,
    /// Whether unused credits stay when their cycle ends; only for subscriptions.
    pub rollover: bool,
    pub features: BTreeSet<Feature>,
    pub interval: Interval,
    /// Days of a free trial at the start of a subscription, 1 to 730; `None`: no trial.
    pub trial_days: Option<u32>,
    /// Credits that the trial brings, 0 to 2^53 - 1.
    pub trial_credits: i64,
    /// Whether a wallet that has its features may buy it again; only for one-time prices.
    pub repeatable: bool,
    /// How much a wallet may use while its subscription is active; about the credits that it fills unless they name a
    /// product. They may change: they are no term of what was sold.
    pub limits: Vec<Limit>,
    pub active: bool,
    pub created_at: Timestamp,
}

impl Price {
    /// Whether this quantity costs more than payment providers take at once.
    pub fn is_too_much(&self, quantity: Quantity) -> bool {
        quantity.of(self.amount_cents) > charge::maximum(&self.currency)
    }

    /// Checks it by itself, without its product.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        rules::optional_text("label", self.label.as_deref(), MAX_NAME)?;
        rules::whole("amountCents", self.amount_cents)?;
        rules::currency(&self.currency)?;
        rules::whole("creditsGranted", self.credits_granted)?;
        if let Some(days) = self.credits_expire_after_days {
            rules::within("creditsExpireAfterDays", days.into(), 1, MAX_EXPIRY_DAYS)?;
        }
        let recurs = self.interval != Interval::OneTime;
        let message = "Only the credits of a subscription can roll over.";
        ensure(recurs || !self.rollover, "rollover", message)?;
        let message = "A wallet has one subscription to a product at a time.";
        ensure(!recurs || !self.repeatable, "repeatable", message)?;
        self.check_trial()?;
        rules::features_size(&self.features)
    }

    fn check_trial(&self) -> Result<(), Refusal> {
        rules::whole("trialCredits", self.trial_credits)?;
        let Some(days) = self.trial_days else {
            let message = "trialCredits need a trial: set trialDays, its length.";
            return ensure(self.trial_credits == 0, "trialCredits", message);
        };
        rules::within("trialDays", days.into(), 1, MAX_TRIAL_DAYS)?;
        let message = "Only a subscription can begin with a trial.";
        ensure(self.interval != Interval::OneTime, "trialDays", message)
    }

    /// Checks it against its product and the one whose balance it fills.
    /// # Errors
    /// [`Refusal::ProductNotFound`] if its product is missing; [`Refusal::Invalid`] if the product's type needs
    /// another interval, or no product can hold the credits.
    pub fn fits(self, products: &Products) -> Result<Self, Refusal> {
        let product = products.get(&self.product);
        let product = product.ok_or(Refusal::ProductNotFound(self.product))?;
        let recurs = self.interval != Interval::OneTime;
        let fits = recurs == (product.kind == ProductType::Subscription);
        let message = "Subscriptions are priced by month or year, other products one_time.";
        ensure(fits, "interval", message)?;
        let credits_product = self.credits_product.map(|id| products.get(&id));
        match credits_product {
            Some(target) if !target.is_some_and(|target| target.holds_credits()) => {
                Err(Refusal::invalid(
                    "creditsProductId",
                    "creditsProductId names no product of this project that has a creditUnit.",
                ))
            }
            None if !product.holds_credits() => match (self.credits_granted, self.trial_credits) {
                (0, 0) => Ok(self),
                (0, _) => Err(no_unit("trialCredits")),
                _ => Err(no_unit("creditsGranted")),
            },
            _ => Ok(self),
        }
    }

    /// Whether a customer of this tier can switch to the other: same product, same currency.
    pub fn can_become(&self, other: &Self) -> bool {
        let recurs = |price: &Self| price.interval != Interval::OneTime;
        recurs(self)
            && recurs(other)
            && (self.product, &self.currency) == (other.product, &other.currency)
    }

    /// Checks a price to be offered against the offered ones: a customer has to be able to switch to every tier.
    /// # Errors
    /// [`Refusal::Invalid`] for `param` if there are as many tiers already as a customer can choose between.
    pub fn checked_for_offer<'a>(
        self,
        offered: impl Iterator<Item = &'a Self>,
        param: &str,
    ) -> Result<Self, Refusal> {
        let others = offered.filter(|other| other.id != self.id && self.can_become(other));
        let message = format!(
            "A subscription product has at most {MAX_TIERS} active prices in one currency."
        );
        ensure(others.count() < MAX_TIERS, param, message).map(|()| self)
    }
}

fn no_unit(param: &str) -> Refusal {
    let message = "This product has no creditUnit: name one that has with creditsProductId.";
    Refusal::invalid(param, message)
}

/// A request to create a price.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of Price")]
pub struct NewPrice {
    pub label: Option<String>,
    pub amount_cents: i64,
    pub currency: String,
    pub credits_granted: i64,
    pub credits_product: Option<ProductId>,
    pub credits_expire_after_days: Option<u32>,
    pub rollover: bool,
    pub features: Vec<String>,
    /// `month` or `year` for a subscription, else `one_time`.
    pub interval: Interval,
    pub trial_days: Option<u32>,
    pub trial_credits: i64,
    pub repeatable: bool,
    pub limits: Vec<Limit>,
}

impl From<Price> for NewPrice {
    fn from(price: Price) -> Self {
        Self {
            label: price.label,
            amount_cents: price.amount_cents,
            currency: price.currency,
            credits_granted: price.credits_granted,
            credits_product: price.credits_product,
            credits_expire_after_days: price.credits_expire_after_days,
            rollover: price.rollover,
            features: price
                .features
                .iter()
                .map(|feature| feature.as_str().to_owned())
                .collect(),
            interval: price.interval,
            trial_days: price.trial_days,
            trial_credits: price.trial_credits,
            repeatable: price.repeatable,
            limits: price.limits,
        }
    }
}

impl NewPrice {
    /// The new price, checked by itself; [`Price::fits`] checks it against the project's products.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input out of its bounds.
    pub fn decide(
        self,
        (project, product, id): (ProjectId, ProductId, PriceId),
        now: Timestamp,
    ) -> Result<Price, Refusal> {
        let price = Price {
            id,
            project,
            product,
            label: self.label,
            amount_cents: self.amount_cents,
            currency: self.currency,
            credits_granted: self.credits_granted,
            credits_product: self.credits_product,
            credits_expire_after_days: self.credits_expire_after_days,
            rollover: self.rollover,
            features: rules::features(self.features)?,
            interval: self.interval,
            trial_days: self.trial_days,
            trial_credits: self.trial_credits,
            repeatable: self.repeatable,
            limits: limits_of(self.limits, self.interval)?,
            active: true,
            created_at: now,
        };
        price.check()?;
        charge::check(price.amount_cents, &price.currency)?;
        Ok(price)
    }
}

/// Checks the limits of a price of this interval.
fn limits_of(limits: Vec<Limit>, interval: Interval) -> Result<Vec<Limit>, Refusal> {
    let recurs = interval != Interval::OneTime;
    let message = "Only the price of a subscription brings limits.";
    ensure(recurs || limits.is_empty(), "limits", message)?;
    Limit::checked(limits)
}

/// A change of a price; `None` leaves a field as it is, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of Price")]
pub struct PriceChange {
    pub active: Option<bool>,
    pub label: Option<Option<String>>,
    pub limits: Option<Vec<Limit>>,
}

impl PriceChange {
    /// Checks the change by itself.
    /// # Errors
    /// [`Refusal::Invalid`] for `label`.
    pub fn check(&self) -> Result<(), Refusal> {
        let label = self.label.as_ref().and_then(Option::as_deref);
        rules::optional_text("label", label, MAX_NAME)
    }

    /// The price after the change.
    /// # Errors
    /// As [`check`](Self::check).
    pub fn decide(self, old: &Price) -> Result<Price, Refusal> {
        self.check()?;
        Ok(Price {
            label: self.label.unwrap_or_else(|| old.label.clone()),
            active: self.active.unwrap_or(old.active),
            limits: match self.limits {
                Some(limits) => limits_of(limits, old.interval)?,
                None => old.limits.clone(),
            },
            ..old.clone()
        })
    }
}
