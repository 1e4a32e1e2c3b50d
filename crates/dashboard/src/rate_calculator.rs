//! The calculator beside a rate card: what a use would cost by it. It reads only.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use catalog::VersionRates;
use domain::rate_card::{
    Attributes, Cost, CostLine, Quantities, Rate, RateList, Unrated, UsageFormat, read_usage,
    unknown_counts,
};
use wire::field::FromText;

use super::{prelude::*, rate_versions::pattern};

/// Attributes and units that have a field, those that most rates name.
const ATTRIBUTES: usize = 8;
const UNITS: usize = 32;
const FORMATS: [(&str, &str); 6] = [
    ("", "Choose one"),
    ("openai.chat", "OpenAI, chat"),
    ("openai.responses", "OpenAI, responses"),
    ("anthropic", "Anthropic"),
    ("gemini", "Gemini"),
    ("ai-sdk", "AI SDK"),
];

/// What a use would cost.
pub(super) struct Estimate {
    rate: Option<usize>,
    lines: Vec<[String; 4]>,
    cost: Cost,
    minimum: Cost,
    unpriced: Vec<String>,
}

/// The names of the fields of a card: attributes, then units.
fn names(rates: &[Rate]) -> [Vec<String>; 2] {
    let attributes = rates.iter().flat_map(|rate| rate.pattern.keys());
    let units = rates.iter().flat_map(|rate| {
        let tiers = rate.above.iter().flat_map(|tier| tier.unit_prices.keys());
        rate.unit_prices.keys().chain(tiers)
    });
    let mut units = common("quantities.", units, UNITS);
    if units.is_empty() {
        units.push("quantities.request".into());
    }
    [common("attributes.", attributes, ATTRIBUTES), units]
}

/// The most common of some names, at most so many.
fn common<'a>(prefix: &str, names: impl Iterator<Item = &'a Box<str>>, most: usize) -> Vec<String> {
    let mut counts = HashMap::new();
    names.for_each(|name| *counts.entry(name).or_insert(0_usize) += 1);
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(name, count)| (Reverse(*count), *name));
    let names = names.into_iter().take(most);
    names.map(|(name, _)| format!("{prefix}{name}")).collect()
}

/// What the fields ask for; `None`: they are empty.
pub(super) fn estimate(fields: &Fields, rates: &RateList) -> Result<Option<Estimate>, Error> {
    let [attributes, units] = names(&rates.rates);
    let sent = |names: &[String]| -> Vec<(Box<str>, String)> {
        let named = names.iter().filter_map(|name| {
            let (_, own) = name.split_once('.')?;
            Some((own.into(), fields.owned(name)?))
        });
        named.collect()
    };
    let (sent_attributes, sent_units) = (sent(&attributes), sent(&units));
    let usage = fields.some("usage");
    if sent_attributes.is_empty() && sent_units.is_empty() && usage.is_none() {
        return Ok(None);
    }
    let of_units = |error: Error| match (error.param(), units.first()) {
        (Some("quantities"), Some(first)) => Error::invalid(first, error.message().to_owned()),
        _ => error,
    };
    let boxed = sent_attributes
        .into_iter()
        .map(|(name, text)| (name, text.into()));
    let attributes = Attributes::new(boxed.collect())?;
    let mut unpriced = Vec::new();
    let quantities = match usage {
        Some(_) if !sent_units.is_empty() => {
            return Err(Error::invalid("usage", "Send either quantities or usage."));
        }
        Some(text) => {
            let wrong = |_| Error::invalid("usage", "This must be a usage object, as JSON.");
            let usage = serde_json::from_str(text).map_err(wrong)?;
            let format = UsageFormat::from_text(fields.text("usageFormat"));
            let format = format.ok_or_else(|| Error::missing("usageFormat"))?;
            unpriced = unknown_counts(format, &usage);
            read_usage(format, &usage)?
        }
        None => {
            let mut quantities = BTreeMap::new();
            for name in &units {
                if let (Some((_, unit)), Some(quantity)) =
                    (name.split_once('.'), fields.whole::<u64>(name)?)
                {
                    quantities.insert(unit.into(), quantity);
                }
            }
            Quantities::new(quantities).map_err(|refusal| of_units(refusal.into()))?
        }
    };
    let mut lines = Vec::new();
    let table = &rates.table;
    let rated = table.explain(&attributes, &quantities, |line| lines.push(cells(&line)));
    let rated = rated.map_err(|error| of_units(Unrated::from(error).into()))?;
    Ok(Some(Estimate {
        rate: table.find(&attributes),
        lines,
        cost: rated.cost,
        minimum: rated.minimum,
        unpriced,
    }))
}

/// A line of a cost in words: unit, quantity, price, cost.
pub(super) fn cells(line: &CostLine<'_>) -> [String; 4] {
    let price = match line.per {
        1 => line.unit_price.to_string(),
        per => format!("{} per {}", line.unit_price, layout::count(per)),
    };
    let quantity = layout::count(line.quantity);
    [line.unit.to_owned(), quantity, price, line.cost.to_string()]
}

pub(super) fn card(
    fields: &Fields,
    form: Form<'_>,
    VersionRates { version, rates }: &VersionRates,
    estimate: Option<&Estimate>,
) -> Markup {
    let [attributes, units] = names(&rates.rates);
    let all = attributes.iter().chain(&units).map(String::as_str);
    let shown: Vec<&str> = all.chain(["usage", "usageFormat"]).collect();
    let label = |name: &str| name.split_once('.').map_or("", |(_, own)| own).to_owned();
    html! {
        section.card #calculator {
            h2 { "What would it cost?" }
            (form.alert(&shown))
            @if let Some(estimate) = estimate { (result(estimate, &rates.rates)) }
            form method="get" action="#calculator" {
                @if let Some(number) = fields.some("version") { input type="hidden" name="version" value=(number); }
                @for name in &attributes { (form.text(&FieldLabel(name, &label(name), ""))) }
                fieldset { legend { "How much of each unit" }
                    div.pair { @for name in &units { (form.number(&FieldLabel(name, &label(name), ""))) } }
                }
                fieldset { legend { "Or the provider's own usage object" }
                    (form.choice(&FieldLabel("usageFormat", "Format", ""), &FORMATS))
                    (form.area(&FieldLabel("usage", "Usage", "As JSON.")))
                }
                button.primary type="submit" { "Calculate" }
                p.hint { "By version " (version.number) ". Nothing is charged." }
            }
        }
    }
}

fn result(estimate: &Estimate, rates: &[Rate]) -> Markup {
    let whole = estimate.cost.max(estimate.minimum);
    html! {
        p.balance { b { (grouped(whole.rounded_up())) } " credits, rounded up" }
        @if let Some(rate) = estimate.rate.and_then(|place| rates.get(place)) { p.hint { "By the rate for " (pattern(&rate.pattern)) } }
        (table("Estimate", &["Unit", "#Quantity", "#Price", "#Cost"], &html! {
            @for [unit, quantity, price, cost] in &estimate.lines { tr { td { (unit) } td.number { (quantity) } td.number { (price) } td.number { (cost) } } }
            @if estimate.cost < whole { tr { td { i { "at least" } } td {} td {} td.number { (whole) } } }
            tr { td { b { "Sum" } } td {} td {} td.number { b { (whole) } } }
        }))
        @if !estimate.unpriced.is_empty() { p.note { "Not priced: " (verbatim(&estimate.unpriced.join(", "))) } }
    }
}
