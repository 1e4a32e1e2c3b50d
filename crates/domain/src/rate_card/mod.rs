//! Rate cards: what a thing costs in credits, by its attributes and the quantities of its units. Costs are exact; whole
//! credits are charged, and an account carries what is left.

mod card;
mod changes;
mod decimal;
mod metered;
mod priced;
mod rate;
mod table;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{amount::MAX_CREDITS, catalog::Refusal, text, text::TextError};

pub use self::{
    card::{MAX_RATE_CARDS, NewCard, PutRateCard, RateCard, RateCardVersion, RateList},
    changes::{RateChange, RateChangeKind, TermChange, changes},
    decimal::{Carried, Cost, UnitPrice},
    metered::{MeteredUse, RatedUse, Rating, Unrated, WorkCost},
    priced::{CostLine, RateError, RatedCost},
    rate::{PriceTier, Rate},
    table::{MAX_RATES, RateTable},
    usage::{UsageFormat, read_usage, unknown_counts},
};

text!(/// A rate card's name: 1 to 64 characters of `a-z 0-9 - _ .`.
    RateCardSlug, check_slug);

/// The most attributes of a request or of a rate's match.
const MAX_ATTRIBUTES: usize = 8;
/// The most units of a request or of a rate.
const MAX_UNITS: usize = 32;

fn check_slug(text: &str) -> Result<(), TextError> {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    match (1..=64).contains(&text.len()) && text.bytes().all(is_plain) {
        true => Ok(()),
        false => Err(TextError(
            "A rate card's slug has 1 to 64 characters of a-z 0-9 - _ .",
        )),
    }
}

/// The name of an attribute or a unit: 1 to 64 characters of `a-z A-Z 0-9 _ - .`.
fn check_name(param: &str, name: &str) -> Result<(), Refusal> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    match (1..=64).contains(&name.len()) && name.bytes().all(is_plain) {
        true => Ok(()),
        false => Err(Refusal::invalid(
            param,
            format!("A name in {param} has 1 to 64 characters of a-z A-Z 0-9 _ - ."),
        )),
    }
}

/// What describes a thing that costs, such as `model`: at most eight, each with 1 to 255 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Attributes(BTreeMap<Box<str>, Box<str>>);

impl Attributes {
    /// Checks the bounds.
    /// # Errors
    /// [`Refusal::Invalid`].
    pub fn new(attributes: BTreeMap<Box<str>, Box<str>>) -> Result<Self, Refusal> {
        if attributes.len() > MAX_ATTRIBUTES {
            return Err(Refusal::invalid(
                "attributes",
                format!("attributes has at most {MAX_ATTRIBUTES} entries."),
            ));
        }
        for (name, value) in &attributes {
            check_name("attributes", name)?;
            check_value(&format!("attributes.{name}"), value)?;
        }
        Ok(Self(attributes))
    }

    /// The attributes, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| &**value)
    }
}

fn check_value(param: &str, value: &str) -> Result<(), Refusal> {
    let fits = (1..=255).contains(&value.chars().count()) && !value.chars().any(char::is_control);
    match fits {
        true => Ok(()),
        false => Err(Refusal::invalid(
            param,
            format!("{param} has 1 to 255 characters and no control characters."),
        )),
    }
}

/// How much was used, by unit, without overlap: at most 32 units, none of them zero, each up to 2^53 - 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quantities {
    units: BTreeMap<Box<str>, u64>,
    /// Whether a model provider's usage counted as one `request`, which then costs only where it has a price.
    implies_request: bool,
}

impl Quantities {
    /// The unit of one call.
    const REQUEST: &str = "request";

    /// Checks the bounds. Units of zero are left out.
    /// # Errors
    /// [`Refusal::Invalid`], also if nothing was used.
    pub fn new(mut units: BTreeMap<Box<str>, u64>) -> Result<Self, Refusal> {
        for (unit, quantity) in &units {
            check_name("quantities", unit)?;
            if *quantity > MAX_CREDITS.unsigned_abs() {
                let param = format!("quantities.{unit}");
                return Err(Refusal::invalid(
                    &param,
                    format!("{param} is a whole number from 0 to 2^53 - 1."),
                ));
            }
        }
        units.retain(|_, quantity| *quantity > 0);
        if !(1..=MAX_UNITS).contains(&units.len()) {
            return Err(Refusal::invalid(
                "quantities",
                format!("quantities has 1 to {MAX_UNITS} units that are not zero."),
            ));
        }
        Ok(Self {
            units,
            implies_request: false,
        })
    }

    /// What a call of a model used, which is also one `request`.
    fn of_call(units: BTreeMap<Box<str>, u64>) -> Self {
        Self {
            units,
            implies_request: true,
        }
    }

    /// The units that were used, sorted by name; one `request` included where it is implied.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let implied = self.implies_request.then_some((Self::REQUEST, 1));
        self.units
            .iter()
            .map(|(unit, quantity)| (&**unit, *quantity))
            .chain(implied)
    }

    fn get(&self, unit: &str) -> u64 {
        self.units.get(unit).copied().unwrap_or(0)
    }
}
