//! A rate that was checked: what it says that quantities cost.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{Cost, MAX_UNITS, PriceTier, Quantities, Rate, UnitPrice, check_name};
use crate::{amount::MAX_CREDITS, catalog::Refusal};

/// The most tiers of a rate.
const MAX_TIERS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PricedRate {
    prices: Prices,
    /// The exponent of ten.
    per: u32,
    /// The greatest bound first.
    tiers: Vec<Tier>,
    minimum: Cost,
    free: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Tier {
    unit: Box<str>,
    from: u64,
    prices: Prices,
}

type Prices = BTreeMap<Box<str>, UnitPrice>;

/// Why a thing has no cost. It is never taken to be free.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// No rate is for these attributes.
    #[error("No rate of the card is for these attributes.")]
    NoRate,
    /// The rate has no price for a unit, nor for what that is a part of.
    #[error("The rate has no price for {0}.")]
    NoPrice(Box<str>),
    /// It costs more credits than any amount may be.
    #[error("This costs more than 2^53 - 1 credits.")]
    TooMuch,
}

/// What a thing costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatedCost {
    /// The exact cost, the rate's minimum not considered.
    pub cost: Cost,
    /// The least that a deduction or a whole settlement costs.
    pub minimum: Cost,
}

/// What one unit contributes to a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct CostLine<'a> {
    pub unit: &'a str,
    pub quantity: u64,
    /// Credits of `per` units.
    pub unit_price: UnitPrice,
    pub per: u64,
    pub cost: Cost,
}

impl PricedRate {
    pub(super) fn new(path: &str, rate: &Rate) -> Result<Self, Refusal> {
        let per = (0..=9).find(|exponent| 10_u64.pow(*exponent) == rate.per);
        let per = per.ok_or_else(|| {
            Refusal::invalid(
                format!("{path}.per"),
                "per is a power of ten from 1 to 10^9.",
            )
        })?;
        let prices = prices(&format!("{path}.unitPrices"), &rate.unit_prices, rate.free)?;
        if rate.above.len() > MAX_TIERS {
            return Err(Refusal::invalid(
                format!("{path}.above"),
                format!("A rate has at most {MAX_TIERS} tiers."),
            ));
        }
        let mut tiers: Vec<Tier> = Vec::with_capacity(rate.above.len());
        for (at, tier) in rate.above.iter().enumerate() {
            let path = format!("{path}.above[{at}]");
            if tiers
                .iter()
                .any(|other| (&other.unit, other.from) == (&tier.unit, tier.from))
            {
                return Err(Refusal::invalid(
                    format!("{path}.from"),
                    "Two tiers of a unit begin at the same quantity.",
                ));
            }
            tiers.push(Tier::new(&path, tier, rate.free)?);
        }
        tiers.sort_by_key(|tier| Reverse(tier.from));
        let minimum = match &rate.minimum {
            Some(text) => price(&format!("{path}.minimum"), text)?,
            None => UnitPrice::ZERO,
        };
        if rate.free && minimum > UnitPrice::ZERO {
            return Err(Refusal::invalid(
                format!("{path}.minimum"),
                "What is free has no minimum.",
            ));
        }
        let minimum = minimum.of(1, 0).unwrap_or_default();
        Ok(Self {
            prices,
            per,
            tiers,
            minimum,
            free: rate.free,
        })
    }

    pub(super) fn cost<'a>(
        &self,
        quantities: &'a Quantities,
        mut line: impl FnMut(CostLine<'a>),
    ) -> Result<RatedCost, RateError> {
        let tier = self
            .tiers
            .iter()
            .find(|tier| counted(&tier.unit, quantities) > tier.from);
        let mut total = Cost::default();
        for (unit, quantity) in quantities.iter() {
            let unit_price = match self.price(unit, tier) {
                Some(price) => price,
                None if unit == Quantities::REQUEST && quantities.implies_request => continue,
                None => return Err(RateError::NoPrice(unit.into())),
            };
            let cost = unit_price
                .of(quantity, self.per)
                .ok_or(RateError::TooMuch)?;
            total = total.plus(cost).ok_or(RateError::TooMuch)?;
            let per = 10_u64.saturating_pow(self.per);
            line(CostLine {
                unit,
                quantity,
                unit_price,
                per,
                cost,
            });
        }
        Ok(RatedCost {
            cost: total,
            minimum: self.minimum,
        })
    }

    /// The price of a unit: its own, or that of what it is a part of.
    fn price(&self, unit: &str, tier: Option<&Tier>) -> Option<UnitPrice> {
        if self.free {
            return Some(UnitPrice::ZERO);
        }
        let mut unit = unit;
        loop {
            let own = tier
                .and_then(|tier| tier.prices.get(unit))
                .or_else(|| self.prices.get(unit));
            match own {
                Some(price) => return Some(*price),
                None => unit = parent(unit)?,
            }
        }
    }
}

impl Tier {
    fn new(path: &str, tier: &PriceTier, free: bool) -> Result<Self, Refusal> {
        check_name(&format!("{path}.unit"), &tier.unit)?;
        if tier.from > MAX_CREDITS.unsigned_abs() {
            return Err(Refusal::invalid(
                format!("{path}.from"),
                "from is a whole number from 0 to 2^53 - 1.",
            ));
        }
        let prices = prices(&format!("{path}.unitPrices"), &tier.unit_prices, free)?;
        Ok(Self {
            unit: tier.unit.clone(),
            from: tier.from,
            prices,
        })
    }
}

fn prices(path: &str, texts: &BTreeMap<Box<str>, Box<str>>, free: bool) -> Result<Prices, Refusal> {
    let fewest = usize::from(!free);
    if !(fewest..=MAX_UNITS).contains(&texts.len()) {
        return Err(Refusal::invalid(
            path,
            format!("unitPrices has 1 to {MAX_UNITS} units."),
        ));
    }
    let mut prices = Prices::new();
    for (unit, text) in texts {
        check_name(path, unit)?;
        prices.insert(unit.clone(), price(&format!("{path}.{unit}"), text)?);
    }
    let costs = prices.values().any(|price| *price > UnitPrice::ZERO);
    match (free, costs) {
        (true, true) => Err(Refusal::invalid(
            path,
            "What is free has no price above zero.",
        )),
        (false, false) => Err(Refusal::invalid(
            path,
            "Only free: true makes a rate cost nothing.",
        )),
        _ => Ok(prices),
    }
}

fn price(param: &str, text: &str) -> Result<UnitPrice, Refusal> {
    let message = "A price is a decimal number of credits such as \"0.3\", not negative, with at most nine digits after the point.";
    UnitPrice::parse(text).ok_or_else(|| Refusal::invalid(param, message))
}

/// What a unit is a part of.
fn parent(unit: &str) -> Option<&'static str> {
    match unit {
        "cachedInput" | "cacheWrite" | "inputAudio" | "inputImage" => Some("input"),
        "cacheWrite1h" => Some("cacheWrite"),
        "reasoning" | "outputAudio" | "outputImage" => Some("output"),
        _ => None,
    }
}

/// The quantity that a tier's bound is for: of `input` and `output` with all of their parts.
fn counted(unit: &str, quantities: &Quantities) -> u64 {
    let is_part = |mut part: &'_ str| loop {
        match parent(part) {
            Some(whole) if whole == unit => break true,
            Some(whole) => part = whole,
            None => break false,
        }
    };
    let parts = quantities.units.iter().filter(|(part, _)| is_part(part));
    let parts = parts.map(|(_, quantity)| *quantity);
    parts.fold(quantities.get(unit), u64::saturating_add)
}
