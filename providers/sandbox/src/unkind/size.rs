//! Real sizes: the fields that Stripe's objects have and a small one lacks. None that is there is changed,
//! none that is added says anything.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Map, Value, json};

/// What an event has at least as it is printed in a list, indented; a subscription's has more, since it
/// carries its items twice.
const EVENT_BYTES: usize = 8_000;
const SUBSCRIPTION_EVENT_BYTES: usize = 11_000;

/// By the kind of object. Fields that mean something where they are missing are not among them.
static FIELDS: LazyLock<BTreeMap<String, Map<String, Value>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("fields.json")).unwrap_or_default());

/// How names begin.
const PREFIXES: [(&str, &str); 14] = [
    ("ch_", "charge"),
    ("cs_", "checkout.session"),
    ("cus_", "customer"),
    ("dp_", "dispute"),
    ("du_", "dispute"),
    ("evt_", "event"),
    ("il_", "line_item"),
    ("in_", "invoice"),
    ("inpay_", "invoice_payment"),
    ("pi_", "payment_intent"),
    ("price_", "price"),
    ("re_", "refund"),
    ("si_", "subscription_item"),
    ("sub_", "subscription"),
];

/// What an object is: as it says, or by how its name begins.
pub(super) fn kind_of(object: &Value) -> Option<&str> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    text("object").or_else(|| {
        let id = text("id")?;
        let mut prefixes = PREFIXES.iter();
        let found = prefixes.find(|(prefix, _)| id.starts_with(prefix));
        found.map(|(_, kind)| *kind)
    })
}

/// Pads every object in an answer.
pub(super) fn pad(body: &mut Value) {
    match body {
        Value::Array(values) => values.iter_mut().for_each(pad),
        Value::Object(_) => {
            let kind = kind_of(body).map(str::to_owned);
            let Some(fields) = body.as_object_mut() else {
                return;
            };
            fields.values_mut().for_each(pad);
            let more = kind.as_ref().and_then(|kind| FIELDS.get(kind));
            for (name, value) in more.into_iter().flatten() {
                if !fields.contains_key(name) {
                    fields.insert(name.clone(), value.clone());
                }
            }
            if kind.as_deref() == Some("event") {
                fill(body);
            }
        }
        _ => {}
    }
}

/// Gives an event what went before, as far as that fits, up to the size that one has.
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
