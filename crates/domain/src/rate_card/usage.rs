//! What model providers report about a call, in units that do not overlap.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::Value;

use super::Quantities;
use crate::{amount::MAX_CREDITS, catalog::Refusal};

/// Which provider's usage object it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the APIs")]
pub enum UsageFormat {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    AiSdk,
}

impl UsageFormat {
    const fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai.chat",
            Self::OpenaiResponses => "openai.responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::AiSdk => "ai-sdk",
        }
    }

    fn shapes(self) -> impl Iterator<Item = &'static Shape> {
        let named = move |shape: &&Shape| {
            let family = shape.name.strip_suffix(".model").unwrap_or(&shape.name);
            family == self.name()
        };
        TABLE.shapes.iter().filter(named)
    }

    /// Where it reports all tokens together.
    const fn totals(self) -> &'static [&'static str] {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses => &["total_tokens"],
            Self::Gemini => &["totalTokenCount", "total_token_count"],
            Self::AiSdk => &["totalTokens"],
            Self::Anthropic => &[],
        }
    }
}

/// The table that the clients use as well.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let text = include_str!("../../../../clients/usage.json");
    #[expect(clippy::expect_used, reason = "a test reads it")]
    serde_json::from_str(text).expect("the table of usage objects is valid")
});

#[derive(Deserialize)]
struct Table {
    shapes: Vec<Shape>,
}

#[derive(Deserialize)]
struct Shape {
    name: Box<str>,
    rows: Vec<Row>,
}

/// Adds the first value of its paths to its unit, and takes it out of the one that it is within.
#[derive(Deserialize)]
struct Row {
    unit: Box<str>,
    at: Vec<Box<str>>,
    within: Option<Box<str>>,
}

impl Row {
    /// Whether it counts all of the input or of the output.
    fn is_whole(&self) -> bool {
        self.within.is_none() && matches!(&*self.unit, "input" | "output")
    }

    fn read<'a>(&'a self, usage: &Value) -> Result<Option<(&'a str, i64)>, Refusal> {
        first(usage, self.at.iter().map(|path| &**path))
    }
}

/// Reads a provider's usage object.
/// # Errors
/// [`Refusal::Invalid`] with the path of what is no count, of what contradicts the rest, or `usage` if nothing was
/// measured: nothing used is no measurement.
pub fn read_usage(format: UsageFormat, usage: &Value) -> Result<Quantities, Refusal> {
    let nothing = || {
        Refusal::invalid(
            "usage",
            "usage measures nothing: it has no tokens of this usageFormat.",
        )
    };
    let is_measured = |row: &&Row| {
        let mut values = row.at.iter().filter_map(|path| at(usage, path));
        row.is_whole() && values.any(Value::is_number)
    };
    let found = format
        .shapes()
        .find(|shape| shape.rows.iter().any(|row| is_measured(&row)));
    if found.is_none() {
        // Where there is something that is no count, that is said.
        for row in format.shapes().flat_map(|shape| &shape.rows) {
            row.read(usage)?;
        }
    }
    let shape = found.ok_or_else(nothing)?;
    let mut units: BTreeMap<&str, i64> = BTreeMap::new();
    let mut within: BTreeMap<&str, &str> = BTreeMap::new();
    for row in &shape.rows {
        let Some((path, count)) = row.read(usage)? else {
            continue;
        };
        // Sums of a few numbers below 2^53.
        let mut add = |unit, count: i64| {
            let sum = units.entry(unit).or_default();
            *sum = sum.saturating_add(count);
        };
        add(&row.unit, count);
        if let Some(whole) = &row.within {
            add(whole, count.saturating_neg());
            within.insert(whole, path);
        }
    }
    let total = first(usage, format.totals().iter().copied())?.filter(|(_, total)| *total > 0);
    if let Some((path, total)) = total {
        let parts = units.values().copied().fold(0, i64::saturating_add);
        if parts > total {
            return Err(contradiction(path));
        }
        // Some report reasoning beside the output instead of within it.
        let sum = units.entry("output").or_default();
        *sum = sum.saturating_add(total.saturating_sub(parts));
    }
    count_cached_once(&mut units);
    if let Some((unit, _)) = units.iter().find(|(_, count)| **count < 0) {
        return Err(contradiction(within.get(unit).copied().unwrap_or_default()));
    }
    let units = units.into_iter().filter_map(|(unit, count)| {
        let count = u64::try_from(count).ok()?;
        (count > 0).then(|| (unit.into(), count))
    });
    let units: BTreeMap<_, _> = units.collect();
    match units.is_empty() {
        true => Err(nothing()),
        false => Ok(Quantities::of_call(units)),
    }
}

/// Audio and images that were cached are reported in both places: they count as cached.
fn count_cached_once(units: &mut BTreeMap<&str, i64>) {
    let count = |units: &BTreeMap<&str, i64>, unit| units.get(unit).copied().unwrap_or(0);
    let cached = ["cachedInput", "cacheWrite", "cacheWrite1h"].map(|unit| count(units, unit));
    let cached = cached.into_iter().fold(0, i64::saturating_add);
    let mut twice = count(units, "input")
        .saturating_neg()
        .clamp(0, cached.max(0));
    for kind in ["inputAudio", "inputImage"] {
        let less = twice.min(count(units, kind).max(0));
        if less > 0 {
            for (unit, change) in [(kind, less.saturating_neg()), ("input", less)] {
                let sum = units.entry(unit).or_default();
                *sum = sum.saturating_add(change);
            }
            twice = twice.saturating_sub(less);
        }
    }
}

fn contradiction(path: &str) -> Refusal {
    let param = format!("usage.{path}");
    Refusal::invalid(&param, format!("{param} contradicts the rest of usage."))
}

/// The first value that is there, and its path.
fn first<'a>(
    usage: &Value,
    mut paths: impl Iterator<Item = &'a str>,
) -> Result<Option<(&'a str, i64)>, Refusal> {
    let found = paths.find_map(|path| at(usage, path).map(|value| (path, value)));
    let Some((path, value)) = found else {
        return Ok(None);
    };
    let count = value
        .as_i64()
        .filter(|count| (0..=MAX_CREDITS).contains(count));
    let param = || format!("usage.{path}");
    match count {
        Some(count) => Ok(Some((path, count))),
        None => Err(Refusal::invalid(
            param(),
            format!("{} is a whole number from 0 to 2^53 - 1.", param()),
        )),
    }
}

/// The value at a path such as `a.b`, or `a[AUDIO]` for the count of a list's entry; `null` counts as absent.
fn at<'a>(usage: &'a Value, path: &str) -> Option<&'a Value> {
    let (steps, modality) = path.split_once('[').unwrap_or((path, ""));
    let found = steps
        .split('.')
        .try_fold(usage, |value, step| value.get(step))?;
    let found = match modality.trim_end_matches(']') {
        "" => found,
        modality => {
            let of =
                |entry: &&Value| entry.get("modality").and_then(Value::as_str) == Some(modality);
            let entry = found.as_array()?.iter().find(of)?;
            entry
                .get("tokenCount")
                .or_else(|| entry.get("token_count"))?
        }
    };
    (!found.is_null()).then_some(found)
}

/// Counts in a usage object that no price is for, by their paths, since they are newer than this program.
pub fn unknown_counts(format: UsageFormat, usage: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    collect(usage, &mut String::new(), &mut |path| {
        let known = |row: &Row| row.at.iter().any(|at| at.split('[').next() == Some(path));
        let is_known = format.shapes().any(|shape| shape.rows.iter().any(known))
            || format.totals().contains(&path)
            // What the provider answered, beside what the SDK made of it.
            || path.starts_with("raw.")
            || PARTS.iter().any(|part| path.ends_with(part));
        if !is_known {
            unknown.push(path.to_owned());
        }
    });
    unknown
}

/// Counts that are a part of others without a price of their own.
const PARTS: [&str; 12] = [
    "text_tokens",
    "textTokens",
    "accepted_prediction_tokens",
    "rejected_prediction_tokens",
    "ephemeral_5m_input_tokens",
    "noCacheTokens",
    "inputTokens.noCache",
    "outputTokens.text",
    "promptTokensDetails",
    "candidatesTokensDetails",
    "cacheTokensDetails",
    "toolUsePromptTokensDetails",
];

/// The paths of all counts above zero; that of a list for its entries.
fn collect(value: &Value, path: &mut String, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            let length = path.len();
            for (name, value) in fields {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                collect(value, path, found);
                path.truncate(length);
            }
        }
        Value::Array(entries) if !entries.is_empty() => found(path),
        Value::Number(count) if count.as_f64().is_some_and(|count| count > 0.0) => found(path),
        _ => {}
    }
}
