//! The client's types have every field of the OpenAPI document, and require none that the document does not
//! promise.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic in a test is a failed test, which is the point"
)]

use scrip_wallet as client;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

fn schemas() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi/api.json");
    let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    document["components"]["schemas"].clone()
}

/// An example value for a schema: with all properties, or only with the required ones.
fn example(schema: &Value, schemas: &Value, whole: bool) -> Value {
    let of = |schema| example(schema, schemas, whole);
    if let Some(name) = schema["$ref"].as_str() {
        return of(&schemas[name.rsplit('/').next().unwrap()]);
    }
    if let Some(all) = schema["allOf"].as_array() {
        let parts = all.iter().map(of);
        let fields = parts.flat_map(|part| part.as_object().unwrap().clone());
        return Value::Object(fields.collect());
    }
    if let Some(one) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        return of(&one[0]);
    }
    let only = schema.get("const");
    if let Some(value) = only.or(schema.get("enum").map(|values| &values[0])) {
        return value.clone();
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str());
    match kind.unwrap_or_else(|| panic!("{schema}")) {
        "object" => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let fields = schema["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let fields = fields
                .iter()
                .filter(|(name, _)| whole || required.contains(&json!(name)));
            Value::Object(
                fields
                    .map(|(name, of_it)| (name.clone(), of(of_it)))
                    .collect::<Map<_, _>>(),
            )
        }
        "array" => json!([of(&schema["items"])]),
        "integer" => json!(1),
        "boolean" => json!(true),
        _ if schema["format"] == "date-time" => json!("2026-11-18T11:06:40.000Z"),
        _ => json!("text"),
    }
}

fn check<T: Serialize + DeserializeOwned>(name: &str, schemas: &Value) {
    let whole = example(&schemas[name], schemas, true);
    let read: T = serde_json::from_value(whole.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut back = serde_json::to_value(read).unwrap();
    // A wallet's view has the fields of both kinds of wallet.
    if let Some(fields) = back.as_object_mut() {
        fields.retain(|field, value| whole.get(field).is_some() || !value.is_null());
    }
    assert_eq!(back, whole, "{name}");
    let least = example(&schemas[name], schemas, false);
    let read = serde_json::from_value::<T>(least);
    assert!(
        read.is_ok(),
        "{name} needs more than is promised: {:?}",
        read.err()
    );
}

/// Every type of event is read as its own, whole and with the least that is promised of it.
fn check_events(schemas: &Value) {
    let mut shared = schemas["Event"].clone();
    let types = shared.as_object_mut().unwrap().remove("oneOf").unwrap();
    let types = types.as_array().unwrap();
    assert!(types.len() > 10, "{types:?}");
    for (of_type, whole) in types.iter().flat_map(|it| [(it, true), (it, false)]) {
        let mut sent = example(&shared, schemas, whole);
        let own = example(of_type, schemas, whole);
        let fields = sent.as_object_mut().unwrap();
        fields.extend(own.as_object().unwrap().clone());
        let read: client::Event = serde_json::from_value(sent.clone()).unwrap();
        assert_eq!(read.kind, own["type"]);
        assert!(
            !matches!(read.data, client::EventData::Other(_)),
            "{} needs more than is promised, or reads it otherwise: {sent}",
            read.kind
        );
        let back = serde_json::to_value(&read).unwrap();
        assert_eq!(
            (&back["id"], &back["recordedAt"], &back["timestamp"]),
            (&sent["id"], &sent["recordedAt"], &sent["timestamp"])
        );
    }
}

#[test]
fn every_answer_is_read_whole_and_nothing_is_needed_that_is_not_promised() {
    let schemas = &schemas();
    check::<client::Identity>("Identity", schemas);
    check::<client::OwnSession>("Session", schemas);
    check::<client::Session>("SessionToken", schemas);
    check::<client::Product>("Product", schemas);
    check::<client::Price>("Price", schemas);
    check::<client::WalletView>("CodeWallet", schemas);
    check::<client::WalletView>("ExternalWallet", schemas);
    check::<client::Balance>("Balance", schemas);
    check::<client::Subscription>("Subscription", schemas);
    check::<client::LedgerEntry>("LedgerEntry", schemas);
    check::<client::Deducted>("Deducted", schemas);
    check::<client::DrawnHold>("DrawnHold", schemas);
    check::<client::DebtState>("DebtState", schemas);
    check::<client::Forgiven>("Forgiven", schemas);
    check::<client::Reversed>("Reversed", schemas);
    check::<client::FrozenWallet>("FrozenWallet", schemas);
    check::<client::Credited>("Credited", schemas);
    check::<client::PlacedHold>("PlacedHold", schemas);
    check::<client::Hold>("Hold", schemas);
    check::<client::Checkout>("CheckoutResult", schemas);
    check::<client::Order>("Order", schemas);
    check::<client::Payment>("Payment", schemas);
    check_events(schemas);
    check::<client::Bucket>("Bucket", schemas);
    check::<client::FeatureUse>("Feature", schemas);
}
