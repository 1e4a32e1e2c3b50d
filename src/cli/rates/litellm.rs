//! Reads what LiteLLM publishes: models by their exact names, with prices in dollars for one unit.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    data::Data,
    decimal::Decimal,
    price_file::{PriceFile, PricedModel, Prices, count},
};

/// Prices by their names, and the units that they are for. Of two for one unit the first that is not zero counts.
const UNITS: [(&str, &str); 15] = [
    ("input_cost_per_token", "input"),
    ("cache_read_input_token_cost", "cachedInput"),
    ("cache_creation_input_token_cost", "cacheWrite"),
    ("cache_creation_input_token_cost_above_1hr", "cacheWrite1h"),
    ("input_cost_per_audio_token", "inputAudio"),
    ("input_cost_per_image_token", "inputImage"),
    ("output_cost_per_token", "output"),
    ("output_cost_per_reasoning_token", "reasoning"),
    ("output_cost_per_audio_token", "outputAudio"),
    ("output_cost_per_image_token", "outputImage"),
    ("input_cost_per_request", "request"),
    ("output_cost_per_image", "image"),
    ("output_cost_per_second", "second"),
    ("input_cost_per_second", "second"),
    ("ocr_cost_per_page", "page"),
];
/// What a tier without a price for a unit charges it as.
const PARENTS: [(&str, &str); 3] = [
    ("cachedInput", "input"),
    ("cacheWrite", "input"),
    ("reasoning", "output"),
];
/// Where the higher prices begin at the bound, not above it.
const INCLUSIVE: &str = "xai";

pub(super) fn read(data: &Data, file: &mut PriceFile) {
    for (name, entry) in data.fields() {
        let provider = entry.text("litellm_provider");
        if name == "sample_spec" || !file.wants(provider) {
            continue;
        }
        if name.contains('*') {
            file.leave_out("a name with a `*`", name);
            continue;
        }
        if entry.get("off_peak_pricing").is_some() {
            file.leave_out("a price that depends on the time of day", name);
            continue;
        }
        let ranges = entry.list("tiered_pricing");
        let mut prices = units(entry, "");
        let mut tiers = BTreeMap::new();
        let mut suffixes = BTreeSet::new();
        for (price, value) in entry
            .fields()
            .filter(|(price, value)| price.contains("cost") && **value != Data::Null)
        {
            let (base, suffix) = split(price);
            match bound(suffix) {
                Some(bound) => {
                    suffixes.insert((bound, suffix));
                }
                None if value.number().is_none() || unit(base).is_none() || !suffix.is_empty() => {
                    count(&mut file.other_prices, price);
                }
                None => {}
            }
        }
        let less = u64::from(provider == INCLUSIVE);
        for (bound, suffix) in suffixes {
            let prices = units(entry, suffix);
            if !prices.is_empty() {
                tiers.insert(bound.saturating_sub(less), prices);
            }
        }
        for range in ranges {
            let from = range.list("range").first().and_then(Data::number);
            let mut own = units(range, "");
            match from.and_then(Decimal::whole) {
                None | Some(0) => prices.extend(own),
                Some(from) => {
                    for (unit, parent) in PARENTS {
                        let price = own.get(parent).copied();
                        if let Some(price) = price.filter(|_| prices.contains_key(unit)) {
                            own.entry(unit).or_insert(price);
                        }
                    }
                    tiers.insert(from, own);
                }
            }
        }
        let patterns = BTreeSet::from([name.to_owned()]);
        let model = PricedModel {
            provider: provider.to_owned(),
            patterns,
            prices,
            tiers,
        };
        file.add(name, model);
    }
}

/// The prices of units that have a suffix.
fn units(entry: &Data, suffix: &str) -> Prices {
    let mut prices = Prices::new();
    for (name, unit) in UNITS {
        let price = entry.get(&format!("{name}{suffix}"));
        if let Some(price) = price.and_then(Data::number) {
            let price = price.shifted(6);
            let first = prices.entry(unit).or_insert(price);
            if first.is_zero() {
                *first = price;
            }
        }
    }
    prices
}

fn unit(name: &str) -> Option<&'static str> {
    let found = UNITS.iter().find(|(known, _)| *known == name);
    found.map(|(_, unit)| *unit)
}

/// The longest name of a price that a field begins with, and the rest.
fn split(field: &str) -> (&str, &str) {
    let names = UNITS.iter().map(|(name, _)| *name);
    let names = names.filter(|name| field.starts_with(name));
    let length = names.map(str::len).max().unwrap_or(field.len());
    field.split_at_checked(length).unwrap_or((field, ""))
}

/// The bound of a suffix such as `_above_200k_tokens`.
fn bound(suffix: &str) -> Option<u64> {
    let bound = suffix.strip_prefix("_above_")?.strip_suffix("_tokens")?;
    match bound.strip_suffix('k') {
        Some(thousands) => thousands.parse::<u64>().ok()?.checked_mul(1000),
        None => bound.parse().ok(),
    }
}
