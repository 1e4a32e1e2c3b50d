//! Stripe's shape of objects: `blank.json` has the fields of each kind, by its name in `object`, with default values.
//! Decides nothing.

use std::sync::LazyLock;

use serde_json::{Map, Value};

static BLANK: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("blank.json")).unwrap_or_default());

/// The visible fields of an object; the others are internal.
pub(super) fn visible(kind: &str, mut value: Value) -> Value {
    let always = ["id", "object", "created", "metadata"];
    if let (Value::Object(fields), Some(Value::Object(blank))) = (&mut value, BLANK.get(kind)) {
        fields.retain(|name, _| blank.contains_key(name) || always.contains(&name.as_str()));
        fields.insert("object".into(), kind.into());
    }
    value
}

/// An object and its nested objects with all of Stripe's fields.
pub(crate) fn completed(mut value: Value) -> Value {
    complete(&mut value);
    value
}

fn complete(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(complete),
        Value::Object(fields) => {
            let kind = fields.get("object").and_then(Value::as_str);
            if let Some(Value::Object(blank)) = kind.and_then(|kind| BLANK.get(kind)) {
                fill(fields, blank);
            }
            // Metadata is the shop's.
            let inner = fields.iter_mut().filter(|(name, _)| *name != "metadata");
            inner.for_each(|(_, value)| complete(value));
        }
        _ => {}
    }
}

fn fill(fields: &mut Map<String, Value>, blank: &Map<String, Value>) {
    for (name, usual) in blank {
        match (fields.get_mut(name), usual) {
            (Some(Value::Object(fields)), Value::Object(blank)) => fill(fields, blank),
            // A nullable field's shape is in the file under the field's name.
            (Some(Value::Object(fields)), _) => {
                if let Some(Value::Object(blank)) = BLANK.get(name) {
                    fill(fields, blank);
                }
            }
            (Some(_), _) => {}
            (None, usual) => {
                fields.insert(name.clone(), usual.clone());
            }
        }
    }
}

/// The same for a value without a field `object`.
pub(super) fn filled(kind: &str, mut value: Value) -> Value {
    if let (Value::Object(fields), Some(Value::Object(blank))) = (&mut value, BLANK.get(kind)) {
        fill(fields, blank);
    }
    value
}

/// Sets fields of an object, merging objects in it; nulls are skipped.
pub(crate) fn set(value: &mut Value, more: Value) {
    match (value, more) {
        (Value::Object(fields), Value::Object(more)) => {
            for (name, value) in more.into_iter().filter(|(_, value)| !value.is_null()) {
                set(fields.entry(name).or_insert(Value::Null), value);
            }
        }
        (value, more) => *value = more,
    }
}

/// Removes nulls, which a stored object does not need.
pub(super) fn without_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(without_nulls);
    } else if let Value::Array(values) = value {
        values.iter_mut().for_each(without_nulls);
    }
}

/// A list that an object embeds as a whole.
pub(super) fn list(data: Vec<Value>, url: &str) -> Value {
    serde_json::json!({
        "object": "list", "total_count": data.len(), "data": data, "has_more": false, "url": url,
    })
}

#[cfg(test)]
mod tests;
