//! What callers see of rate cards.

use std::collections::BTreeMap;

use api_types::{PriceTier, Rate, RateCard};
use catalog::VersionRates;
use domain::rate_card::{self, RateCardSlug};

use super::instant;

/// A version of a card.
pub fn rate_card(slug: &RateCardSlug, found: &VersionRates) -> RateCard {
    let version = &found.version;
    RateCard {
        slug: slug.as_str().to_owned(),
        product_id: version.product.to_string(),
        version: version.number,
        rates: found.rates.rates.iter().map(rate).collect(),
        effective_from: instant(version.effective_from),
        created_at: instant(version.created_at),
    }
}

fn rate(rate: &rate_card::Rate) -> Rate {
    let tiers = rate.above.iter().map(|tier| PriceTier {
        unit: tier.unit.as_ref().to_owned(),
        from: tier.from,
        unit_prices: texts(&tier.unit_prices),
    });
    Rate {
        pattern: texts(&rate.pattern),
        unit_prices: texts(&rate.unit_prices),
        per: rate.per,
        above: tiers.collect(),
        minimum: rate.minimum.as_deref().map(str::to_owned),
        free: rate.free,
    }
}

fn texts(of: &BTreeMap<Box<str>, Box<str>>) -> BTreeMap<String, String> {
    let pairs = of.iter();
    pairs
        .map(|(name, text)| (name.as_ref().to_owned(), text.as_ref().to_owned()))
        .collect()
}
