//! Objects that tests put into the account. They have some of the fields of Stripe's objects; `blank.json` has
//! the account's other fields for each kind, by where they are listed.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

type Note = Map<String, Value>;

static BLANK: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("blank.json")).expect("notes"));

/// The objects of every account.
pub(super) fn first() -> [Note; 2] {
    let coupon = json!({
        "object": "coupon", "id": "summer", "created": 0, "off": {"percent": 1000},
        "duration": "forever", "times_redeemed": 0, "metadata": {},
    });
    let code = json!({
        "object": "promotion_code", "id": "promo_1", "created": 0, "code": "SUMMER",
        "coupon": "summer", "active": true, "times_redeemed": 0, "first_time": false, "metadata": {},
    });
    [coupon, code].map(|note| note.as_object().expect("a note").clone())
}

/// An empty object, in place of a former one.
pub(super) fn new(collection: &str, id: &str, former: Option<&Note>, now: i64) -> Note {
    let blank = BLANK.get(collection).and_then(Value::as_object);
    let mut note = blank
        .unwrap_or_else(|| panic!("nothing is put into {collection}"))
        .clone();
    note.insert("id".into(), json!(id));
    note.insert("created".into(), json!(now));
    for place in ["n", "created"] {
        if let Some(former) = former.and_then(|former| former.get(place)) {
            note.insert(place.into(), former.clone());
        }
    }
    note
}

/// Whether the account keeps all of this field, in another shape: then its own view of it is shown.
pub(super) fn is_whole(name: &str) -> bool {
    name == "lines"
}

/// An object with these fields changed.
pub(super) fn with(mut note: Note, object: &Value) -> Note {
    let kind = note["object"].clone();
    let mut blanks = BLANK.values().filter(|blank| blank["object"] == kind);
    let blank = blanks.next().and_then(Value::as_object);
    let blank = blank.expect("something that is put");
    let mut put = |name: &str, value: &Value| match value {
        Value::Null => {}
        value => drop(note.insert(name.into(), without_nulls(value.clone()))),
    };
    for (name, value) in object.as_object().expect("fields") {
        let is_kept = blank.contains_key(name) || name == "created";
        // A session's status does not prevent a payment.
        let is_shown = kind == "checkout.session" && name.ends_with("status");
        // The account keeps these in another shape.
        if is_kept && !is_shown && name != "lines" {
            put(name, value);
        }
    }
    match kind.as_str().unwrap_or_default() {
        "subscription" => subscription(object, put),
        "invoice" => {
            let details = &object["parent"]["subscription_details"];
            put("subscription", &details["subscription"]);
            put("subscription_metadata", &details["metadata"]);
            put("paid_at", &object["status_transitions"]["paid_at"]);
            if let Some(lines) = object["lines"]["data"].as_array() {
                put("lines", &lines.iter().map(line).collect());
            }
        }
        "invoice_payment" => {
            put("intent", &object["payment"]["payment_intent"]);
            put("amount_requested", &object["amount_paid"]);
            if object["status"] == "paid" {
                put("paid_at", &json!(0));
            }
        }
        "webhook_endpoint" => {
            if let Some(status) = object["status"].as_str() {
                put("enabled", &json!(status == "enabled"));
            }
        }
        _ => {}
    }
    note
}

/// Items are shown as given; the subscription is found by their prices.
fn subscription(object: &Value, mut put: impl FnMut(&str, &Value)) {
    if object["cancel_at"].is_i64() {
        put("cancel_at_period_end", &json!(true));
    }
    let Some(items) = object["items"]["data"].as_array() else {
        return;
    };
    let mut stored = items.iter().enumerate().map(|(place, item)| {
        json!({
            "id": format!("si_{place}"), "created": 0, "price": item["price"]["id"].as_str().unwrap_or("price_0"),
            "quantity": item["quantity"].as_i64().unwrap_or(1),
        })
    });
    put("item", &stored.next().unwrap_or_default());
    put("addons", &stored.collect());
    for (name, field) in [
        ("period_start", "current_period_start"),
        ("period_end", "current_period_end"),
    ] {
        put(name, &items[0][field]);
    }
}

fn line(object: &Value) -> Value {
    let of_item = object["parent"]["subscription_item_details"].is_object();
    let details = match of_item {
        true => &object["parent"]["subscription_item_details"],
        false => &object["parent"]["invoice_item_details"],
    };
    json!({
        "id": object["id"].as_str().unwrap_or("il_0"), "amount": object["amount"],
        "quantity": object["quantity"].as_i64().unwrap_or(1),
        "price": object["pricing"]["price_details"]["price"],
        "start": object["period"]["start"], "end": object["period"]["end"],
        "proration": details["proration"] == true, "item": if of_item { "si_0" } else { "" },
    })
}

fn without_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields
                .values_mut()
                .for_each(|value| *value = without_nulls(value.take()));
        }
        Value::Array(values) => {
            values
                .iter_mut()
                .for_each(|value| *value = without_nulls(value.take()));
        }
        _ => {}
    }
    value
}
