//! Compares two schemas as far as a change may break a caller, with references followed and `allOf` parts
//! merged.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The direction in which a schema's value is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// From the caller: what was accepted must still be accepted.
    In,
    /// To the caller: what was there must still be there.
    Out,
}

/// A document, and a schema in it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) document: &'a Value,
    pub(super) schema: &'a Value,
}

/// A schema with references followed and parts merged.
#[derive(Default)]
struct Shape<'a> {
    types: BTreeSet<&'a str>,
    /// The values of its `enum`.
    values: Option<BTreeSet<String>>,
    fields: BTreeMap<&'a str, At<'a>>,
    required: BTreeSet<&'a str>,
    items: Option<At<'a>>,
    entries: Option<At<'a>>,
    /// For each `oneOf`, its alternatives.
    choices: Vec<Vec<At<'a>>>,
    bounds: BTreeMap<&'static str, f64>,
    pattern: Option<&'a str>,
}

/// Keywords of lower and of upper bounds.
const LOWER_BOUNDS: [&str; 4] = ["minimum", "minLength", "minItems", "minProperties"];
const UPPER_BOUNDS: [&str; 4] = ["maximum", "maxLength", "maxItems", "maxProperties"];

impl<'a> At<'a> {
    fn to(self, schema: &'a Value) -> Self {
        Self { schema, ..self }
    }

    /// The schema's reference, if it is one.
    fn name(self) -> Option<&'a str> {
        self.schema.get("$ref")?.as_str()
    }

    /// The schema that the reference leads to.
    pub(super) fn resolved(self) -> Self {
        match self.name().and_then(|name| name.strip_prefix('#')) {
            Some(pointer) => {
                let schema = self.document.pointer(pointer);
                self.to(schema.unwrap_or_else(|| panic!("{pointer} leads nowhere")))
                    .resolved()
            }
            None => self,
        }
    }

    fn shape(self) -> Shape<'a> {
        let mut shape = Shape::default();
        self.add_to(&mut shape);
        shape
    }

    fn add_to(self, shape: &mut Shape<'a>) {
        let at = self.resolved();
        let get = |key: &str| at.schema.get(key);
        match get("type") {
            Some(Value::String(one)) => drop(shape.types.insert(one)),
            Some(Value::Array(all)) => shape.types.extend(all.iter().filter_map(Value::as_str)),
            _ => {}
        }
        if let Some(values) = get("enum").and_then(Value::as_array) {
            shape.values = Some(values.iter().map(Value::to_string).collect());
        }
        if let Some(fields) = get("properties").and_then(Value::as_object) {
            let fields = fields
                .iter()
                .map(|(name, schema)| (name.as_str(), at.to(schema)));
            shape.fields.extend(fields);
        }
        let required = get("required").and_then(Value::as_array);
        shape
            .required
            .extend(required.into_iter().flatten().filter_map(Value::as_str));
        shape.items = get("items").map(|schema| at.to(schema)).or(shape.items);
        let entries = get("additionalProperties").filter(|schema| schema.is_object());
        shape.entries = entries.map(|schema| at.to(schema)).or(shape.entries);
        for bound in LOWER_BOUNDS.into_iter().chain(UPPER_BOUNDS) {
            if let Some(value) = get(bound).and_then(Value::as_f64) {
                shape.bounds.insert(bound, value);
            }
        }
        shape.pattern = get("pattern").and_then(Value::as_str).or(shape.pattern);
        for part in get("allOf").and_then(Value::as_array).into_iter().flatten() {
            at.to(part).add_to(shape);
        }
        let Some(choices) = get("oneOf").or(get("anyOf")).and_then(Value::as_array) else {
            return;
        };
        let is_null = |choice: &&Value| choice.get("type").is_some_and(|kind| kind == "null");
        let others: Vec<_> = choices.iter().filter(|choice| !is_null(choice)).collect();
        if others.len() < choices.len() {
            shape.types.insert("null");
        }
        match others.as_slice() {
            // One alternative, or null.
            [one] => at.to(one).add_to(shape),
            _ => shape
                .choices
                .push(others.into_iter().map(|one| at.to(one)).collect()),
        }
    }
}

/// Names of schemas that are being compared already, as schemas may be recursive.
type Seen = BTreeSet<(String, String, Way)>;

/// What a caller who knows the old schema would miss in the new one, each with its place.
pub(super) fn breaks(old: At<'_>, new: At<'_>, way: Way, place: &str) -> Vec<String> {
    compare(old, new, way, place, &mut Seen::new())
}

fn compare(old: At<'_>, new: At<'_>, way: Way, place: &str, seen: &mut Seen) -> Vec<String> {
    if let (Some(one), Some(other)) = (old.name(), new.name())
        && !seen.insert((one.into(), other.into(), way))
    {
        return Vec::new();
    }
    let (old, new) = (old.shape(), new.shape());
    let mut matches = Vec::new();
    values(&old, &new, way, place, &mut matches);
    for (name, field) in &old.fields {
        let place = format!("{place}.{name}");
        match new.fields.get(name) {
            None => matches.push(format!("{place} is gone")),
            Some(now) => {
                let (before, after) = (old.required.contains(name), new.required.contains(name));
                if way == Way::Out && before && !after {
                    matches.push(format!("{place} may be left out now"));
                }
                matches.extend(compare(*field, *now, way, &place, seen));
            }
        }
    }
    if way == Way::In {
        let newly = new.required.difference(&old.required);
        matches.extend(newly.map(|name| format!("{place}.{name} is required now")));
    }
    for (before, after, kind) in [
        (old.items, new.items, "[]"),
        (old.entries, new.entries, "{}"),
    ] {
        if let (Some(before), Some(after)) = (before, after) {
            matches.extend(compare(before, after, way, &format!("{place}{kind}"), seen));
        }
    }
    // A choice is no choice if what was asked for anyway is one of its alternatives.
    let is_made = |alternative: &At<'_>| alternative.shape().required.is_subset(&old.required);
    let is_open = |choice: &&Vec<At<'_>>| way == Way::Out || !choice.iter().any(is_made);
    let before: Vec<_> = old.choices.iter().filter(is_open).collect();
    let after: Vec<_> = new.choices.iter().filter(is_open).collect();
    if way == Way::In && after.len() > before.len() {
        matches.push(format!("{place} has a choice to make now"));
    }
    for (before, after) in before.iter().zip(&after) {
        for (number, choice) in before.iter().enumerate() {
            let place = format!("{place}|{number}");
            let against = |now: &At<'_>| compare(*choice, *now, way, &place, &mut seen.clone());
            let nearest = after.iter().map(against).min_by_key(Vec::len);
            matches.extend(nearest.unwrap_or_default());
        }
    }
    if before.len() > after.len() {
        matches.push(format!("{place} has no choice any more"));
    }
    matches
}

/// Compares types, values and bounds.
fn values(old: &Shape<'_>, new: &Shape<'_>, way: Way, place: &str, found: &mut Vec<String>) {
    let (narrow, wide) = match way {
        Way::In => (&old.types, &new.types),
        Way::Out => (&new.types, &old.types),
    };
    let fits = |kind: &&str| wide.contains(kind) || (*kind == "integer" && wide.contains("number"));
    if !wide.is_empty() && !narrow.iter().all(fits) {
        found.push(format!(
            "{place} was {:?} and is {:?}",
            old.types, new.types
        ));
    }
    match (&old.values, &new.values) {
        (Some(before), Some(after)) => {
            let gone = before.difference(after);
            found.extend(gone.map(|value| format!("{place} has no value {value} any more")));
        }
        (Some(_), None) if way == Way::Out => {
            found.push(format!("{place} does not say its values any more"));
        }
        (None, Some(_)) if way == Way::In => found.push(format!("{place} takes some values only")),
        _ => {}
    }
    if way == Way::Out {
        return;
    }
    for (bound, value) in &new.bounds {
        let before = old.bounds.get(bound);
        let tighter = |before: &f64| match LOWER_BOUNDS.contains(bound) {
            true => value > before,
            false => value < before,
        };
        if before.is_none_or(tighter) {
            found.push(format!("{place} has a tighter {bound}: {value}"));
        }
    }
    if new.pattern.is_some() && new.pattern != old.pattern {
        found.push(format!("{place} has another pattern"));
    }
}
