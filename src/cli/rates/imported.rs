//! Rates made from a price file.

use std::collections::{BTreeMap, BTreeSet};

use domain::rate_card::{PriceTier, Rate};

use super::{
    decimal::Decimal,
    listed,
    price_file::{PriceFile, PricedModel, Prices, count},
};
use crate::cli::print;

/// Prices are for a million.
const PER: u64 = 1_000_000;

/// The rates of a price file, with what is to be said about them.
pub(super) struct Imported {
    file: PriceFile,
    /// By the patterns of models' names.
    rates: BTreeMap<String, PatternRate>,
    rounded: BTreeSet<String>,
}

struct PatternRate {
    provider: String,
    terms: Terms,
}

type UnitPrices = BTreeMap<Box<str>, Box<str>>;
/// The prices of units, and those above quantities of input.
type Terms = (UnitPrices, BTreeMap<u64, UnitPrices>);

impl Imported {
    /// Multiplies the prices by a factor. Rates that are `kept` have precedence.
    pub(super) fn new(mut file: PriceFile, factor: Decimal, kept: &[&Rate]) -> Self {
        let models = std::mem::take(&mut file.models);
        let mut imported = Self {
            file,
            rates: BTreeMap::new(),
            rounded: BTreeSet::new(),
        };
        let own = kept.iter().filter_map(|rate| rate.pattern.get("model"));
        let own: BTreeSet<&str> = own.map(|model| &**model).collect();
        for model in models.into_iter().filter(|it| !it.patterns.is_empty()) {
            let terms = imported.terms(&model, factor);
            for pattern in model.patterns {
                let shorter = imported.next_shorter(&pattern);
                let shorter = shorter.filter(|it| it.provider != model.provider);
                let former = imported.rates.get(&pattern).or(shorter);
                let why = match (&terms, former) {
                    (None, _) => "a price with too many digits, or a tier that costs nothing",
                    _ if own.contains(&*pattern) => {
                        "a rate of the card's own, free or with a minimum"
                    }
                    (Some(terms), Some(former)) if former.terms != *terms => {
                        "another price of a provider that comes first"
                    }
                    (_, Some(_)) => continue,
                    (Some(terms), None) => {
                        let (provider, terms) = (model.provider.clone(), terms.clone());
                        let rate = PatternRate { provider, terms };
                        imported.rates.insert(pattern, rate);
                        continue;
                    }
                };
                let shown = format!("{pattern} ({})", model.provider);
                imported.file.leave_out(why, &shown);
            }
        }
        imported.drop_implied();
        imported
    }

    fn terms(&mut self, model: &PricedModel, factor: Decimal) -> Option<Terms> {
        let name = model.patterns.first().map_or("", String::as_str);
        let mut credits = |prices: &Prices| -> Option<UnitPrices> {
            let prices = prices.iter().map(|(unit, price)| {
                let (text, is_rounded) = price.times(factor)?.price()?;
                if is_rounded {
                    let what = format!("{unit} of {name} ({})", model.provider);
                    self.rounded.insert(what);
                }
                Some(((*unit).into(), text.into()))
            });
            prices.collect()
        };
        let tiers = model.tiers.iter().map(|(from, prices)| {
            let costs = prices.values().any(|price| !price.is_zero());
            Some((*from, credits(prices).filter(|_| costs)?))
        });
        let tiers = tiers.collect::<Option<_>>()?;
        Some((credits(&model.prices)?, tiers))
    }

    /// The rate of the longest pattern with a `*` that matches all that this one does.
    fn next_shorter(&self, pattern: &str) -> Option<&PatternRate> {
        let literal = pattern.strip_suffix('*').unwrap_or(pattern);
        let ends = (0..=literal.len()).rev();
        let prefixes = ends.filter_map(|end| Some(format!("{}*", literal.get(..end)?)));
        let mut shorter = prefixes.filter(|prefix| prefix != pattern);
        shorter.find_map(|prefix| self.rates.get(&prefix))
    }

    /// Drops what the next shorter pattern says as well.
    fn drop_implied(&mut self) {
        let is_implied = |pattern: &str, rate: &PatternRate| {
            let next = self.next_shorter(pattern);
            next.is_some_and(|next| next.terms == rate.terms)
        };
        let all = self.rates.iter();
        let implied = all.filter(|(pattern, rate)| is_implied(pattern, rate));
        let implied: BTreeSet<String> = implied.map(|(pattern, _)| pattern.clone()).collect();
        self.rates.retain(|pattern, _| !implied.contains(pattern));
    }

    pub(super) fn len(&self) -> usize {
        self.rates.len()
    }

    pub(super) fn rates(self) -> impl Iterator<Item = Rate> {
        self.rates.into_iter().map(|(pattern, rate)| {
            let (unit_prices, tiers) = rate.terms;
            let above = tiers.into_iter();
            let above = above.map(|(from, unit_prices)| PriceTier {
                unit: "input".into(),
                from,
                unit_prices,
            });
            Rate {
                pattern: BTreeMap::from([("model".into(), pattern.into())]),
                unit_prices,
                per: PER,
                above: above.collect(),
                minimum: None,
                free: false,
            }
        })
    }

    /// How many rates each provider has, the most first.
    pub(super) fn by_provider(&self) -> String {
        let mut counts = BTreeMap::new();
        for rate in self.rates.values() {
            count(&mut counts, &rate.provider);
        }
        counted(&counts)
    }

    /// Prints what is not imported, and what is imported otherwise than it was written.
    pub(super) fn print(&self) {
        for (why, what) in &self.file.left_out {
            print::line(&format!("left out, {why}: {}", listed(what.iter())));
        }
        if !self.file.other_prices.is_empty() {
            let all = counted(&self.file.other_prices);
            print::line(&format!(
                "prices without a unit, by how many models have them: {all}"
            ));
        }
        if !self.rounded.is_empty() {
            let rounded = listed(self.rounded.iter());
            print::line(&format!(
                "rounded up to nine digits after the point: {rounded}"
            ));
        }
        for (day, count) in &self.file.later {
            print::line(&format!(
                "from {day} on, other prices of {count} models: import again"
            ));
        }
    }
}

/// Names with how often each is there, the most frequent first.
fn counted(counts: &BTreeMap<String, usize>) -> String {
    let mut all: Vec<_> = counts.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    listed(all.iter().map(|(name, count)| format!("{name} ({count})")))
}
