//! Stripe's shape of objects: `blank.json` has it, by the word that an object calls itself, with what of it
//! the sandbox never decides. Decides nothing.

use std::sync::LazyLock;

use serde_json::{Map, Value};

static BLANK: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("blank.json")).unwrap_or_default());

/// What of an object is Stripe's; the rest the bank keeps to itself.
pub(super) fn visible(kind: &str, mut value: Value) -> Value {
    let always = ["id", "object", "created", "metadata"];
    if let (Value::Object(fields), Some(Value::Object(blank))) = (&mut value, BLANK.get(kind)) {
        fields.retain(|name, _| blank.contains_key(name) || always.contains(&name.as_str()));
        fields.insert("object".into(), kind.into());
    }
    value
}

/// An object, and all that is in it, with all that Stripe's have.
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
            // What is written on objects is the shop's.
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
            // What may be null has its shape under its own name.
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

/// The same of what does not call itself anything.
pub(super) fn filled(kind: &str, mut value: Value) -> Value {
    if let (Value::Object(fields), Some(Value::Object(blank))) = (&mut value, BLANK.get(kind)) {
        fill(fields, blank);
    }
    value
}

/// Sets fields of an object, those of objects in it one by one; what is null says nothing.
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

/// Takes out what is null: a note need not say it.
pub(super) fn without_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(without_nulls);
    } else if let Value::Array(values) = value {
        values.iter_mut().for_each(without_nulls);
    }
}

/// A whole list in an object.
pub(super) fn list(data: Vec<Value>, url: &str) -> Value {
    serde_json::json!({
        "object": "list", "total_count": data.len(), "data": data, "has_more": false, "url": url,
    })
}

#[cfg(test)]
mod tests;
