//! Schemas on the API's page.

use maud::{Markup, html};
use serde_json::Value;

use super::reference::{object, prose, text};

/// A schema in a few words, with a link where it has a name.
pub(super) fn name(schema: &Value) -> Markup {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return html! { a href={ "#schema-" (name) } { (name) } };
    }
    if let Some((parts, word)) = parts(schema) {
        return html! {
            @for (position, part) in parts.iter().enumerate() {
                @if position > 0 { (word) }
                (name(part))
            }
        };
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            return html! { "list of " (name(schema.get("items").unwrap_or(&Value::Null))) };
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

/// The parts of a schema that is composed of several, and the word between them.
fn parts(schema: &Value) -> Option<(&Vec<Value>, &'static str)> {
    [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")]
        .into_iter()
        .find_map(|(name, word)| Some((schema.get(name)?.as_array()?, word)))
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

/// A schema with its fields.
pub(super) fn table(schema: &Value) -> Markup {
    let properties = object(schema.get("properties"));
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    html! {
        (prose(text(Some(schema), "description")))
        @if let Some((parts, word)) = parts(schema) {
            @for (position, part) in parts.iter().enumerate() {
                @if position > 0 { p { (word.trim()) } }
                (table(part))
            }
        } @else if properties.is_empty() {
            p { (name(schema)) }
        }
        @if !properties.is_empty() {
            table {
                @for (field, property) in properties {
                    tr {
                        th { (field) }
                        td { (name(property)) @if !is_required(field) { " (optional)" } }
                        td { (about(property)) }
                    }
                }
            }
        }
    }
}

/// A field's description, or that of the first of its parts that has one.
fn about(property: &Value) -> Markup {
    let own = text(Some(property), "description");
    let of_parts = || {
        let (parts, _) = parts(property)?;
        let mut said = parts.iter().map(|part| text(Some(part), "description"));
        said.find(|said| !said.is_empty())
    };
    prose(if own.is_empty() {
        of_parts().unwrap_or_default()
    } else {
        own
    })
}
