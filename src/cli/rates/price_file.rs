//! A price file: what models cost in dollars, by the patterns of their names.

use std::collections::{BTreeMap, BTreeSet};

use super::{data::Data, decimal::Decimal, genai_prices, litellm};

/// Prices of units, in dollars for a million.
pub(super) type Prices = BTreeMap<&'static str, Decimal>;

/// What a price file says, as far as a rate card can say it.
#[derive(Debug, Default)]
pub(super) struct PriceFile {
    /// The providers that are wanted, in order of precedence; all if none is named.
    pub(super) providers: Vec<String>,
    pub(super) models: Vec<PricedModel>,
    /// What is not imported, by the reasons.
    pub(super) left_out: BTreeMap<&'static str, BTreeSet<String>>,
    /// How often prices are there that no unit is for.
    pub(super) other_prices: BTreeMap<String, usize>,
    /// How many models have other prices from a later day.
    pub(super) later: BTreeMap<String, usize>,
}

/// A model, or several that cost the same.
#[derive(Debug)]
pub(super) struct PricedModel {
    pub(super) provider: String,
    /// Names, exact or with a `*` at their end.
    pub(super) patterns: BTreeSet<String>,
    pub(super) prices: Prices,
    /// Prices above a quantity of input.
    pub(super) tiers: BTreeMap<u64, Prices>,
}

impl PriceFile {
    /// Reads a file of genai-prices or LiteLLM. `today` decides which prices are in force.
    pub(super) fn read(text: &str, providers: &[String], today: &str) -> Result<Self, String> {
        let data = Data::parse(text)?;
        let mut file = Self {
            providers: providers.to_vec(),
            ..Self::default()
        };
        let is_litellm = |(_, entry): (&str, &Data)| !entry.text("litellm_provider").is_empty();
        if data.items().iter().any(|it| it.get("models").is_some()) {
            genai_prices::read(&data, today, &mut file);
        } else if data.fields().any(is_litellm) {
            litellm::read(&data, &mut file);
        } else {
            return Err("it has the prices of neither genai-prices nor LiteLLM".into());
        }
        let place = |name: &String| providers.iter().position(|provider| provider == name);
        file.models.sort_by_key(|model| place(&model.provider));
        Ok(file)
    }

    pub(super) fn wants(&self, provider: &str) -> bool {
        self.providers.is_empty() || self.providers.iter().any(|name| name == provider)
    }

    /// Adds a model that has prices.
    pub(super) fn add(&mut self, name: &str, model: PricedModel) {
        if model.prices.is_empty() {
            self.leave_out("no price for a unit of a rate card", name);
        } else if model.prices.values().all(|price| price.is_zero()) {
            let why = "a price of zero: write a rate with `free = true` if it is to cost nothing";
            self.leave_out(why, name);
        } else {
            self.models.push(model);
        }
    }

    pub(super) fn leave_out(&mut self, why: &'static str, what: &str) {
        self.left_out.entry(why).or_default().insert(what.into());
    }
}

/// Counts a name once more.
pub(super) fn count(counts: &mut BTreeMap<String, usize>, name: &str) {
    let count = counts.entry(name.to_owned()).or_default();
    *count = count.saturating_add(1);
}
