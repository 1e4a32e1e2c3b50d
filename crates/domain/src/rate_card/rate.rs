//! A rate as an administrator writes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What units cost for things with some attributes. [`super::RateTable::new`] checks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rate {
    /// The attributes that it is for, each exact or with a `*` at its end; `{}` is for all things.
    #[serde(rename = "match")]
    pub pattern: BTreeMap<Box<str>, Box<str>>,
    /// Credits of `per` units, as decimals with at most nine digits after the point.
    #[serde(default)]
    pub unit_prices: BTreeMap<Box<str>, Box<str>>,
    /// A power of ten up to 10^9.
    #[serde(default = "one")]
    pub per: u64,
    /// Prices of all units where the quantity of one passes a bound.
    #[serde(default)]
    pub above: Vec<PriceTier>,
    /// The least credits that a deduction or a whole settlement costs, as a decimal.
    #[serde(default)]
    pub minimum: Option<Box<str>>,
    /// Whether it costs nothing.
    #[serde(default)]
    pub free: bool,
}

/// Prices of a rate where the quantity of one unit passes a bound. A unit that they leave out keeps its own price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PriceTier {
    /// The unit; `input` counts all kinds of input together.
    pub unit: Box<str>,
    /// The quantity that has to be passed.
    pub from: u64,
    /// Credits of `per` units.
    pub unit_prices: BTreeMap<Box<str>, Box<str>>,
}

const fn one() -> u64 {
    1
}
