//! Real sizes: adds the fields that the sandbox's objects lack. Existing fields are not changed, and the added ones
//! carry no information.

use serde_json::{Value, json};

use crate::core::shape::completed;

/// The least bytes of an indented event in a list; a subscription's has more, since it has its items twice.
const EVENT_BYTES: usize = 8_000;
const SUBSCRIPTION_EVENT_BYTES: usize = 11_000;

pub(super) fn pad(body: &mut Value) {
    *body = completed(body.take());
    fill_events(body);
}

fn fill_events(body: &mut Value) {
    match body {
        Value::Array(values) => values.iter_mut().for_each(fill_events),
        Value::Object(_) if body["object"] == "event" => fill(body),
        Value::Object(fields) => fields.values_mut().for_each(fill_events),
        _ => {}
    }
}

/// Pads an event's `previous_attributes` up to the size that such events have.
fn fill(event: &mut Value) {
    let kind = event["type"].as_str().unwrap_or_default();
    let wanted = match kind.starts_with("customer.subscription.") {
        true => SUBSCRIPTION_EVENT_BYTES,
        false => EVENT_BYTES,
    };
    if kind == "customer.subscription.updated" {
        let items = event.pointer("/data/object/items").cloned();
        let before = items.map(|items| json!({ "items": items }));
        lay(event, before.unwrap_or_else(|| json!({})));
    }
    let printed = serde_json::to_string_pretty(event).map_or(0, |text| text.len());
    let missing = wanted.saturating_sub(printed);
    if missing > 0 {
        let mut before = event.pointer("/data/previous_attributes").cloned();
        let before = before.get_or_insert_with(|| json!({}));
        before["description"] = "x".repeat(missing).into();
        lay(event, before.take());
    }
}

fn lay(event: &mut Value, before: Value) {
    let data = event.get_mut("data").and_then(Value::as_object_mut);
    if let Some(data) = data {
        data.entry("previous_attributes").or_insert(Value::Null);
        data.insert("previous_attributes".into(), before);
    }
}
