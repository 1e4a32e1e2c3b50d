//! The rates of a card, checked and ready to be looked up.

use std::{cmp::Reverse, collections::HashMap};

use super::{
    Attributes, CostLine, MAX_ATTRIBUTES, Quantities, Rate, RateError, RatedCost, check_name,
    check_value, priced::PricedRate,
};
use crate::catalog::Refusal;

/// The most rates of a card.
pub const MAX_RATES: usize = 1000;

/// The rates of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateTable {
    rates: Vec<PricedRate>,
    /// In order of what wins: more attributes, then more exact ones.
    shapes: Vec<Shape>,
}

/// What some of the rates look at: in each attribute all of its value, or its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    attributes: Vec<(Box<str>, Option<usize>)>,
    exact: usize,
    /// By what the attributes have to be.
    rates: HashMap<String, usize>,
}

impl RateTable {
    /// Checks the rates.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input that breaks a rule, as a path: `rates[1].match`.
    pub fn new(rates: &[Rate]) -> Result<Self, Refusal> {
        if !(1..=MAX_RATES).contains(&rates.len()) {
            return Err(Refusal::invalid(
                "rates",
                format!("A card has 1 to {MAX_RATES} rates."),
            ));
        }
        let mut table = Self {
            rates: Vec::with_capacity(rates.len()),
            shapes: Vec::new(),
        };
        let ranks: Vec<_> = rates.iter().map(rank).collect();
        for ((at, rate), rank) in rates.iter().enumerate().zip(&ranks) {
            let path = format!("rates[{at}]");
            check_pattern(&format!("{path}.match"), rate)?;
            let mut earlier = rates.iter().zip(&ranks).take(at);
            let earlier = earlier.position(|(other, its)| its == rank && overlap(other, rate));
            if let Some(other) = earlier {
                let message =
                    format!("Of rates[{other}] and {path}, neither wins where both match.");
                return Err(Refusal::invalid(format!("{path}.match"), message));
            }
            table.insert(rate);
            table.rates.push(PricedRate::new(&path, rate)?);
        }
        table
            .shapes
            .sort_by_key(|shape| Reverse((shape.attributes.len(), shape.exact)));
        Ok(table)
    }

    fn insert(&mut self, rate: &Rate) {
        let attributes = rate.pattern.iter().map(|(name, value)| {
            let prefix = value.strip_suffix('*').map(str::len);
            (name.clone(), prefix)
        });
        let attributes: Vec<_> = attributes.collect();
        let mut key = String::new();
        for value in rate.pattern.values() {
            push(&mut key, value.strip_suffix('*').unwrap_or(value));
        }
        let place = self.rates.len();
        if let Some(shape) = self
            .shapes
            .iter_mut()
            .find(|shape| shape.attributes == attributes)
        {
            shape.rates.insert(key, place);
            return;
        }
        let exact = attributes
            .iter()
            .filter(|(_, prefix)| prefix.is_none())
            .count();
        self.shapes.push(Shape {
            attributes,
            exact,
            rates: HashMap::from([(key, place)]),
        });
    }

    /// What so much of a thing costs.
    /// # Errors
    /// [`RateError`].
    pub fn cost(
        &self,
        attributes: &Attributes,
        quantities: &Quantities,
    ) -> Result<RatedCost, RateError> {
        self.explain(attributes, quantities, |_| ())
    }

    /// The same; tells what each unit contributes.
    /// # Errors
    /// [`RateError`].
    pub fn explain<'a>(
        &self,
        attributes: &Attributes,
        quantities: &'a Quantities,
        line: impl FnMut(CostLine<'a>),
    ) -> Result<RatedCost, RateError> {
        let place = self.find(attributes);
        let rate = place.and_then(|place| self.rates.get(place));
        rate.ok_or(RateError::NoRate)?.cost(quantities, line)
    }

    /// The place of the rate that counts: the one with most attributes, then with most exact ones, then with the longest
    /// literals.
    pub fn find(&self, attributes: &Attributes) -> Option<usize> {
        let mut key = String::new();
        let mut best = None;
        for shape in &self.shapes {
            let rank = (shape.attributes.len(), shape.exact);
            if best.is_some_and(|(other, _, _)| other > rank) {
                break;
            }
            if let Some((length, place)) = shape.find(attributes, &mut key)
                && best.is_none_or(|(_, other, _)| length > other)
            {
                best = Some((rank, length, place));
            }
        }
        Some(best?.2)
    }
}

impl Shape {
    /// The rate of this shape that matches, and how long its literals are.
    fn find(&self, attributes: &Attributes, key: &mut String) -> Option<(usize, usize)> {
        key.clear();
        let mut length = 0_usize;
        for (name, prefix) in &self.attributes {
            let value = attributes.get(name)?;
            let literal = match prefix {
                Some(bytes) => value.get(..*bytes)?,
                None => value,
            };
            length = length.saturating_add(literal.len());
            push(key, literal);
        }
        self.rates.get(key.as_str()).map(|place| (length, *place))
    }
}

/// Adds a literal to a key. No value has a control character.
fn push(key: &mut String, literal: &str) {
    key.push_str(literal);
    key.push('\0');
}

fn check_pattern(param: &str, rate: &Rate) -> Result<(), Refusal> {
    if rate.pattern.len() > MAX_ATTRIBUTES {
        return Err(Refusal::invalid(
            param,
            format!("A rate matches at most {MAX_ATTRIBUTES} attributes."),
        ));
    }
    for (name, value) in &rate.pattern {
        check_name(param, name)?;
        let param = format!("{param}.{name}");
        check_value(&param, value)?;
        if value.strip_suffix('*').unwrap_or(value).contains('*') {
            return Err(Refusal::invalid(
                param,
                "A * is at the end of a value, and nowhere else.",
            ));
        }
    }
    Ok(())
}

/// By what one rate wins over another: how many attributes it names, how many of them with a star, and how long all of
/// their values are.
fn rank(rate: &Rate) -> (usize, usize, usize) {
    let values = rate.pattern.values();
    let stars = values.clone().filter(|value| value.ends_with('*')).count();
    let length = values.map(|value| value.len()).sum();
    (rate.pattern.len(), stars, length)
}

/// Whether some attributes match both rates.
fn overlap(one: &Rate, other: &Rate) -> bool {
    let both = |name, value: &str| {
        let second = other.pattern.get(name);
        second.is_none_or(|second| both_match(value, second))
    };
    one.pattern.iter().all(|(name, value)| both(name, value))
}

/// Whether a value matches both patterns.
fn both_match(one: &str, other: &str) -> bool {
    match (one.strip_suffix('*'), other.strip_suffix('*')) {
        (None, None) => one == other,
        (Some(prefix), None) => other.starts_with(prefix),
        (None, Some(prefix)) => one.starts_with(prefix),
        (Some(one), Some(other)) => one.starts_with(other) || other.starts_with(one),
    }
}
