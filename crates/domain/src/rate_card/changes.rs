//! What changes from some rates to others.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rate, UnitPrice};

/// A rate that comes, goes, or gets other terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateChange {
    /// The attributes that it is for.
    pub pattern: BTreeMap<Box<str>, Box<str>>,
    /// Whether it comes, goes or changes.
    pub kind: RateChangeKind,
    /// The terms that are not the same.
    pub terms: Vec<TermChange>,
    /// Whether a price rises or falls by more than half.
    pub is_large: bool,
}

/// What happens to a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum RateChangeKind {
    Added,
    Removed,
    Changed,
}

/// A price or another term that is not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermChange {
    /// The unit, with its tier; or `minimum`, `per`, `free`.
    pub name: String,
    /// What it was, if there was one.
    pub old: Option<String>,
    /// What it is, if there is one.
    pub new: Option<String>,
    /// By how many tenths of a percent a price rises.
    pub tenths: Option<i128>,
}

struct Term {
    text: String,
    /// A price, and for how many units it is.
    price: Option<(UnitPrice, u64)>,
}

/// Terms by what they are called, those of units first.
type Terms = BTreeMap<(bool, String), Term>;

/// What changes from some rates to others. Rates are the same if they match the same; texts of one number are equal.
pub fn changes(old: &[Rate], new: &[Rate]) -> Vec<RateChange> {
    let by_pattern = |rates: &'_ [Rate]| -> BTreeMap<_, _> {
        let all = rates.iter();
        all.map(|rate| (rate.pattern.clone(), terms(rate)))
            .collect()
    };
    let (old, new) = (by_pattern(old), by_pattern(new));
    let all: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let changes = all.into_iter().filter_map(|pattern| {
        let (old, new) = (old.get(pattern), new.get(pattern));
        let kind = match (old, new) {
            (None, _) => RateChangeKind::Added,
            (_, None) => RateChangeKind::Removed,
            _ => RateChangeKind::Changed,
        };
        let none = Terms::new();
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        let mut is_large = false;
        let terms = names.into_iter().filter_map(|name| {
            let (old, new) = (old.get(name), new.get(name));
            let prices = compared(old, new);
            is_large |= prices.is_some_and(is_far);
            let is_same = old.map(|it| &it.text) == new.map(|it| &it.text)
                && prices.is_none_or(|(old, new)| old == new);
            (!is_same).then(|| TermChange {
                name: name.1.clone(),
                old: old.map(|it| it.text.clone()),
                new: new.map(|it| it.text.clone()),
                tenths: prices.and_then(rise),
            })
        });
        let terms: Vec<_> = terms.collect();
        (!terms.is_empty()).then(|| RateChange {
            pattern: pattern.clone(),
            kind,
            terms,
            is_large,
        })
    });
    changes.collect()
}

/// The two prices, for as many units.
fn compared(old: Option<&Term>, new: Option<&Term>) -> Option<(u128, u128)> {
    let ((old, old_per), (new, new_per)) = (old?.price?, new?.price?);
    Some((old.times(new_per)?, new.times(old_per)?))
}

/// Whether the second price is more than half higher or lower.
const fn is_far((old, new): (u128, u128)) -> bool {
    let double = new.saturating_mul(2);
    double > old.saturating_mul(3) || double < old
}

/// By how many tenths of a percent the second price is higher, rounded toward zero.
fn rise((old, new): (u128, u128)) -> Option<i128> {
    let (old, new) = (i128::try_from(old).ok()?, i128::try_from(new).ok()?);
    new.checked_sub(old)?.checked_mul(1000)?.checked_div(old)
}

/// The prices and other terms of a rate.
fn terms(rate: &Rate) -> Terms {
    let price = |is_other, name: String, text: &str, per| {
        let price = UnitPrice::parse(text);
        let text = price.map_or_else(|| text.to_owned(), |price| price.to_string());
        let price = price.map(|price| (price, per));
        ((is_other, name), Term { text, price })
    };
    let other = |name: &str, text: String| ((true, name.to_owned()), Term { text, price: None });
    let own = rate.unit_prices.iter();
    let own = own.map(|(unit, text)| price(false, unit.to_string(), text, rate.per));
    let tiers = rate.above.iter().flat_map(|tier| {
        let prices = tier.unit_prices.iter();
        prices.map(|(unit, text)| {
            let name = format!("{unit} above {} {}", tier.from, tier.unit);
            price(false, name, text, rate.per)
        })
    });
    let minimum = rate.minimum.iter();
    let minimum = minimum.map(|text| price(true, "minimum".into(), text, 1));
    let free = rate.free.then(|| other("free", "true".into()));
    own.chain(tiers)
        .chain(minimum)
        .chain(free)
        .chain([other("per", rate.per.to_string())])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(prices: &[(&str, &str)], per: u64) -> Rate {
        let boxed = |(name, text): &(&str, &str)| ((*name).into(), (*text).into());
        Rate {
            pattern: [("model", "m*")].iter().map(boxed).collect(),
            unit_prices: prices.iter().map(boxed).collect(),
            per,
            above: Vec::new(),
            minimum: None,
            free: false,
        }
    }

    #[test]
    fn prices_are_compared_exactly_and_for_as_many_units() {
        let change = |old: &str, new: &str, per| {
            let (old, new) = (rate(&[("input", old)], 1000), rate(&[("input", new)], per));
            let mut changes = changes(&[old], &[new]);
            let change = changes.pop()?;
            Some((change.terms.first()?.tenths, change.is_large))
        };
        assert_eq!(change("3", "3.0", 1000), None);
        assert_eq!(change("2", "3", 1000), Some((Some(500), false)));
        assert_eq!(change("2", "1", 1000), Some((Some(-500), false)));
        assert_eq!(change("2", "3.000000001", 1000), Some((Some(500), true)));
        assert_eq!(change("2", "0.999", 1000), Some((Some(-500), true)));
        assert_eq!(change("0", "0.1", 1000), Some((None, true)));
        assert_eq!(
            change("9007199254740991", "0.000000001", 1_000_000_000),
            Some((Some(-999), true))
        );
        assert_eq!(change("3", "3", 1_000_000), Some((Some(-999), true)));
    }

    #[test]
    fn a_rate_comes_goes_or_changes() {
        let (old, new) = (rate(&[("a", "1"), ("b", "2")], 1), rate(&[("b", "3")], 1));
        let both = changes(std::slice::from_ref(&old), &[new]);
        let [change] = both.as_slice() else {
            panic!("{both:?}");
        };
        let terms = change.terms.iter();
        let terms: Vec<_> = terms
            .map(|it| (&*it.name, it.old.as_deref(), it.new.as_deref()))
            .collect();
        assert_eq!(change.kind, RateChangeKind::Changed);
        assert_eq!(terms, [("a", Some("1"), None), ("b", Some("2"), Some("3"))]);
        let added = changes(&[], std::slice::from_ref(&old));
        let removed = changes(&[old], &[]);
        let kinds = added.iter().chain(&removed).map(|change| change.kind);
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(kinds, [RateChangeKind::Added, RateChangeKind::Removed]);
    }
}
