//! Schemas of a description: resolved, in words, and as tables.

use std::sync::LazyLock;

use maud::{Markup, html};
use serde_json::{Map, Value};

/// The description that schemas and parameters are looked up in.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a>(pub &'a Value);

impl<'a> Document<'a> {
    /// What a `$ref` leads to; what is no reference is its own target.
    #[must_use]
    pub fn resolve(self, value: &'a Value) -> &'a Value {
        let reference = value.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|text| text.strip_prefix('#'));
        match pointer.and_then(|pointer| self.0.pointer(pointer)) {
            Some(target) => self.resolve(target),
            None => value,
        }
    }

    /// The schemas that have fields, by name: the page has a section for each that something leads to.
    pub(super) fn schema(self, name: &str) -> Option<&'a Value> {
        object(self.0.pointer("/components/schemas")).get(name)
    }

    /// A schema in a few words, with a link where it has a section of its own.
    pub(super) fn name(self, schema: &'a Value) -> Markup {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.resolve(schema);
            let name = reference.rsplit('/').next().unwrap_or_default();
            return match has_section(target) {
                true => html! { a href={ "#schema-" (name) } { (name) } },
                false => self.name(target),
            };
        }
        if let Some((parts, word)) = parts(schema) {
            return html! {
                @for (position, part) in parts.iter().enumerate() {
                    @if position > 0 { (word) }
                    (self.name(part))
                }
            };
        }
        let kind = match schema.get("type") {
            Some(Value::String(kind)) if kind == "array" => {
                return html! { "list of " (self.name(schema.get("items").unwrap_or(&Value::Null))) };
            }
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
                kinds.join(" or ")
            }
            _ => String::new(),
        };
        html! { (kind) (bounds(schema)) }
    }

    /// A schema with its fields, required ones first.
    pub(super) fn table(self, schema: &'a Value) -> Markup {
        let schema = self.resolve(schema);
        let fields = fields(schema);
        html! {
            @if let Some((parts, word)) = parts(schema) {
                @for (position, part) in parts.iter().enumerate() {
                    @if position > 0 { p.word { (word.trim()) } }
                    (self.table(part))
                }
            } @else if fields.is_empty() {
                p { (self.name(schema)) }
            }
            @if !fields.is_empty() {
                div.wide tabindex="0" {
                    table {
                        @for (name, field, is_required) in fields { (self.row(name, field, is_required)) }
                    }
                }
            }
        }
    }

    fn row(self, name: &str, field: &'a Value, is_required: bool) -> Markup {
        html! {
            tr {
                th scope="row" {
                    (name)
                    @if is_required { " " span.required { "required" } }
                }
                td {
                    div.type { (self.name(field)) }
                    (prose(self.about(field)))
                }
            }
        }
    }

    /// The fields of an object and of all its parts, each once, with whether it is required in each of them.
    #[must_use]
    pub fn members(self, schema: &'a Value) -> Vec<(&'a str, &'a Value, bool)> {
        let schema = self.resolve(schema);
        let Some((parts, word)) = parts(schema) else {
            return fields(schema);
        };
        let are_all_needed = word == " and " || parts.len() == 1;
        let mut all: Vec<(&str, &Value, bool)> = Vec::new();
        for (name, field, is_required) in parts.into_iter().flat_map(|part| self.members(part)) {
            if all.iter().all(|(known, ..)| *known != name) {
                all.push((name, field, is_required && are_all_needed));
            }
        }
        all
    }

    /// A field's description, or that of the first of its parts that has one.
    #[must_use]
    pub fn about(self, field: &'a Value) -> &'a str {
        let own = text(Some(field), "description");
        let of_parts = || {
            let (parts, _) = parts(field)?;
            let mut all = parts.iter().map(|part| text(Some(part), "description"));
            all.find(|one| !one.is_empty())
        };
        match own {
            "" => of_parts().unwrap_or_else(|| text(Some(self.resolve(field)), "description")),
            own => own,
        }
    }
}

/// Whether a schema is more than a value: then it has a section, and others link to it.
fn has_section(schema: &Value) -> bool {
    schema.get("properties").is_some() || parts(schema).is_some()
}

/// The fields of an object, each with its schema and whether it is required; required ones first, in their order.
pub(super) fn fields(schema: &Value) -> Vec<(&str, &Value, bool)> {
    let properties = object(schema.get("properties"));
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let first = required
        .iter()
        .filter_map(|name| Some((*name, properties.get(*name)?, true)));
    let others = properties
        .iter()
        .filter(|(name, _)| !required.contains(&name.as_str()));
    let all = first.chain(others.map(|(name, field)| (name.as_str(), field, false)));
    // What may only be null is there to exclude it.
    all.filter(|(_, field, _)| field.get("type").is_none_or(|kind| kind != "null"))
        .collect()
}

/// The parts of a schema that is composed of several, but null, and the word between them.
#[must_use]
pub fn parts(schema: &Value) -> Option<(Vec<&Value>, &'static str)> {
    [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")]
        .into_iter()
        .find_map(|(name, word)| {
            let parts = schema.get(name)?.as_array()?.iter();
            let parts = parts.filter(|part| part.get("type").is_none_or(|kind| kind != "null"));
            Some((parts.collect(), word))
        })
}

/// The bounds of a number or a text.
fn bounds(schema: &Value) -> String {
    let of = |least: &str, most: &str| {
        let (least, most) = (schema.get(least), schema.get(most));
        match (least, most) {
            (Some(least), Some(most)) => Some(format!("{least} to {most}")),
            (Some(least), None) => Some(format!("at least {least}")),
            (None, Some(most)) => Some(format!("at most {most}")),
            (None, None) => None,
        }
    };
    let number = of("minimum", "maximum").map(|bounds| format!(", {bounds}"));
    let text = of("minLength", "maxLength").map(|bounds| format!(", {bounds} characters"));
    let choices = schema.get("enum").and_then(Value::as_array).map(|all| {
        let all: Vec<_> = all.iter().map(Value::to_string).collect();
        format!(": {}", all.join(", "))
    });
    [number, text, choices].into_iter().flatten().collect()
}

/// A text of an object; empty where there is none.
#[must_use]
pub fn text<'a>(object: Option<&'a Value>, name: &str) -> &'a str {
    let text = object.and_then(|object| object.get(name)?.as_str());
    text.unwrap_or_default()
}

/// An object, or an empty one.
pub(super) fn object(value: Option<&Value>) -> &Map<String, Value> {
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.and_then(Value::as_object).unwrap_or(&EMPTY)
}

/// Text with its paragraphs and its `code`.
pub(super) fn prose(text: &str) -> Markup {
    let paragraphs = text.split("\n\n").filter(|text| !text.trim().is_empty());
    html! {
        @for paragraph in paragraphs {
            p {
                @for (position, part) in paragraph.split('`').enumerate() {
                    @if position.is_multiple_of(2) { (part) } @else { code { (part) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            prose("a <b> `c & d`").into_string(),
            "<p>a &lt;b&gt; <code>c &amp; d</code></p>"
        );
    }
}
