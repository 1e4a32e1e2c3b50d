//! Reads what genai-prices publishes: providers with models, each with a rule that says which names it is for.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    data::Data,
    decimal::Decimal,
    price_file::{PriceFile, PricedModel, Prices, count},
};

/// Prices in dollars for a million by their names, and the units that they are for. Of two for one unit the first counts.
const UNITS: [(&str, &str); 12] = [
    ("input_mtok", "input"),
    ("input_text_mtok", "input"),
    ("cache_read_mtok", "cachedInput"),
    ("cache_write_5m_mtok", "cacheWrite"),
    ("cache_write_mtok", "cacheWrite"),
    ("cache_write_1h_mtok", "cacheWrite1h"),
    ("input_audio_mtok", "inputAudio"),
    ("input_image_mtok", "inputImage"),
    ("output_mtok", "output"),
    ("output_reasoning_mtok", "reasoning"),
    ("output_audio_mtok", "outputAudio"),
    ("output_image_mtok", "outputImage"),
];

pub(super) fn read(data: &Data, today: &str, file: &mut PriceFile) {
    for provider in data.items() {
        let name = provider.text("id");
        if !file.wants(name) {
            continue;
        }
        let models = provider.list("models");
        for (place, model) in models.iter().enumerate() {
            let id = model.text("id");
            let shown = format!("{id} ({name})");
            let Some(prices) = in_force(model, today, &shown, file) else {
                continue;
            };
            let mut patterns = BTreeSet::new();
            let null = Data::Null;
            let rule = model.get("match").unwrap_or(&null);
            if !patterns_of(rule, &mut patterns) {
                let why =
                    "names that no pattern can say, such as those with a text in their middle";
                file.leave_out(why, &shown);
            }
            if matches(rule, id, true) {
                patterns.insert(id.to_owned());
            }
            // The first model whose rule matches a name is meant.
            let earlier = models.get(..place).unwrap_or_default();
            patterns.retain(|pattern| {
                let text = pattern.trim_end_matches('*');
                let is_meant = |other: &Data| {
                    let rule = other.get("match");
                    rule.is_some_and(|rule| matches(rule, text, false))
                };
                !text.is_empty() && !text.contains('*') && !earlier.iter().any(is_meant)
            });
            let (prices, tiers) = units(prices, file);
            let model = PricedModel {
                provider: name.to_owned(),
                patterns,
                prices,
                tiers,
            };
            file.add(&shown, model);
        }
    }
}

/// The prices that are in force; none if they depend on the time of day.
fn in_force<'a>(
    model: &'a Data,
    today: &str,
    shown: &str,
    file: &mut PriceFile,
) -> Option<&'a Data> {
    let prices = model.get("prices")?;
    let Data::List(all) = prices else {
        return Some(prices);
    };
    let mut current = all.first()?;
    for prices in all {
        let Some(constraint) = prices.get("constraint") else {
            current = prices;
            continue;
        };
        match constraint.text("start_date") {
            "" => {
                let why = "a price that depends on the time of day";
                file.leave_out(why, shown);
                return None;
            }
            from if from <= today => current = prices,
            from => count(&mut file.later, from),
        }
    }
    current.get("prices")
}

/// Collects the names that a rule is for; returns whether these are all.
fn patterns_of(rule: &Data, patterns: &mut BTreeSet<String>) -> bool {
    let mut is_all = true;
    for (kind, value) in rule.fields() {
        let text = rule.text(kind);
        is_all &= match kind.trim_end_matches('_') {
            "equals" => {
                patterns.insert(text.to_owned());
                true
            }
            "starts_with" => {
                patterns.insert(format!("{text}*"));
                true
            }
            // What begins with it contains it.
            "contains" => {
                patterns.insert(format!("{text}*"));
                false
            }
            "ends_with" => {
                patterns.insert(text.to_owned());
                false
            }
            "or" => {
                let mut is_each = true;
                for rule in value.items() {
                    is_each &= patterns_of(rule, patterns);
                }
                is_each
            }
            _ => false,
        };
    }
    is_all
}

/// Whether a rule is for a name; `unknown` is what a rule that cannot be read says.
fn matches(rule: &Data, name: &str, unknown: bool) -> bool {
    let name = name.to_lowercase();
    let mut rules = rule.fields().map(|(kind, value)| {
        let text = rule.text(kind).to_lowercase();
        match kind.trim_end_matches('_') {
            "equals" => name == text,
            "starts_with" => name.starts_with(&text),
            "contains" => name.contains(&text),
            "ends_with" => name.ends_with(&text),
            "or" => value.items().iter().any(|it| matches(it, &name, unknown)),
            "and" => value.items().iter().all(|it| matches(it, &name, unknown)),
            _ => unknown,
        }
    });
    rules.any(|is_for| is_for)
}

/// The prices of units, and those above quantities of input.
fn units(prices: &Data, file: &mut PriceFile) -> (Prices, BTreeMap<u64, Prices>) {
    let of = |unit| {
        let names = UNITS.iter().filter(move |(_, other)| *other == unit);
        names.filter_map(|(name, _)| prices.get(name)).next()
    };
    for (name, value) in prices.fields().filter(|(_, value)| **value != Data::Null) {
        let is_known = name == "requests_kcount" || UNITS.iter().any(|(known, _)| *known == name);
        if !is_known || base(value).is_none() {
            count(&mut file.other_prices, name);
        }
    }
    let mut base_prices = Prices::new();
    let mut starts = BTreeSet::new();
    for (_, unit) in UNITS {
        if let Some(price) = of(unit) {
            base_prices.extend(base(price).map(|price| (unit, price)));
            starts.extend(tiers(price).map(|(start, _)| start));
        }
    }
    if let Some(price) = prices.get("requests_kcount").and_then(Data::number) {
        base_prices.insert("request", price.shifted(3));
    }
    let at = |start: u64| {
        let prices = UNITS.iter().filter_map(|(_, unit)| {
            let reached = tiers(of(unit)?).filter(|(other, _)| *other <= start);
            Some((*unit, reached.max_by_key(|(other, _)| *other)?.1))
        });
        (start, prices.collect())
    };
    let tiers = starts.into_iter().map(at).collect();
    (base_prices, tiers)
}

/// A price without a tier.
fn base(price: &Data) -> Option<Decimal> {
    price.get("base").unwrap_or(price).number()
}

fn tiers(price: &Data) -> impl Iterator<Item = (u64, Decimal)> {
    price.list("tiers").iter().filter_map(|tier| {
        let start = tier.get("start")?.number()?.whole()?;
        Some((start, tier.get("price")?.number()?))
    })
}
