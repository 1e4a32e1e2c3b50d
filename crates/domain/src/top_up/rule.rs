//! What a buyer agreed to: when a card is charged, how much, and how often at most.

use serde::{Deserialize, Serialize};

use super::{MAX_ATTEMPTS_A_DAY, MAX_CONSENT_CHARACTERS};
use crate::{Quantity, Rejection, terms::Terms, time::Timestamp};

/// How much one attempt buys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TopUpSize {
    /// This many of the price.
    Quantity(Quantity),
    /// As many of the price as bring what can be spent to this many credits.
    Target(i64),
}

/// What the buyer agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUpConsent {
    /// The text that the buyer saw.
    pub text: Box<str>,
    /// When the buyer agreed.
    pub at: Timestamp,
}

/// When a wallet's card is charged, how much, and how often at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUpRule {
    /// What is bought, as it was when the buyer agreed.
    pub terms: Terms,
    /// It is charged when fewer credits than these can be spent; at least 1.
    pub threshold: i64,
    /// How much is bought.
    pub size: TopUpSize,
    /// The most that is charged in a month, in the currency's minor unit.
    pub monthly_limit_cents: i64,
    /// The most attempts in a day.
    pub max_per_day: u32,
    /// What the buyer agreed to.
    pub consent: TopUpConsent,
}

impl TopUpRule {
    /// How many of the price an attempt buys where this much can be spent, and what they cost. `None`: more than one
    /// order may have.
    pub fn purchase(&self, available: i64) -> Option<(Quantity, i64)> {
        let quantity = match self.size {
            TopUpSize::Quantity(quantity) => quantity,
            TopUpSize::Target(target) => {
                let missing = target.saturating_sub(available).max(1);
                let each = self.terms.credits.max(1);
                let count = missing
                    .saturating_add(each.saturating_sub(1))
                    .checked_div(each)?;
                // Only a debt may ask for more than these.
                let affordable = self
                    .monthly_limit_cents
                    .checked_div(self.terms.amount_cents)?;
                let count = count.min(affordable).min(Quantity::MAX.into());
                Quantity::new(u32::try_from(count).ok()?)?
            }
        };
        let (cents, _) = self.terms.times(quantity)?;
        Some((quantity, cents))
    }

    /// Whether it allows to charge more than a former rule.
    pub fn exceeds(&self, former: Option<&Self>) -> bool {
        former.is_none_or(|former| {
            self.monthly_limit_cents > former.monthly_limit_cents
                || self.max_per_day > former.max_per_day
                || self.terms.currency != former.terms.currency
        })
    }

    /// Checks that its numbers are in bounds.
    /// # Errors
    /// [`Rejection::TopUpRule`] with what is wrong.
    pub fn check(&self) -> Result<(), Rejection> {
        let ensure = |holds: bool, field, problem| match holds {
            true => Ok(()),
            false => Err(Rejection::TopUpRule { field, problem }),
        };
        let terms = &self.terms;
        let sells_credits = !terms.recurs() && terms.credits > 0 && terms.amount_cents > 0;
        ensure(
            sells_credits,
            "priceId",
            "must be a one-time price that costs money and brings credits",
        )?;
        ensure(
            (1..=crate::MAX_CREDITS).contains(&self.threshold),
            "threshold",
            "must be 1 or more credits",
        )?;
        if let TopUpSize::Target(target) = self.size {
            ensure(
                target >= self.threshold,
                "target",
                "must not be below the threshold",
            )?;
            ensure(
                target <= terms.credits.saturating_mul(Quantity::MAX.into()),
                "target",
                "would take more than 1,000 of the price at once",
            )?;
        }
        let is_covered = self.purchase(0).is_some_and(|(quantity, cents)| {
            let reaches = match self.size {
                TopUpSize::Target(target) => quantity.of(terms.credits) >= target,
                TopUpSize::Quantity(_) => true,
            };
            reaches && cents <= self.monthly_limit_cents
        });
        ensure(
            is_covered && self.monthly_limit_cents <= crate::MAX_CREDITS,
            "monthlyLimitCents",
            "must cover one top-up of an empty balance",
        )?;
        ensure(
            (1..=MAX_ATTEMPTS_A_DAY).contains(&self.max_per_day),
            "maxPerDay",
            "must be 1 to 24",
        )?;
        let length = self.consent.text.chars().count();
        let is_said = !self.consent.text.trim().is_empty() && length <= MAX_CONSENT_CHARACTERS;
        ensure(
            is_said,
            "consent.text",
            "must be the text that the buyer agreed to: 1 to 2,000 characters",
        )
    }
}
