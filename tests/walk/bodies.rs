//! Bodies that a description says are in order, filled from the world.

use serde_json::{Map, Value, json};

/// What fields of this name have; `None`: what their schema says.
pub(crate) type Named<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// Bodies for a schema, one for each way to name a wallet.
pub(crate) fn bodies(document: &Value, schema: &Value, named: Named<'_>) -> Vec<Value> {
    let schema = resolved(document, schema);
    if let Some(all) = schema["allOf"].as_array() {
        let mut bodies = vec![json!({})];
        for part in all {
            let parts = bodies_of_part(document, part, named);
            let joined = bodies
                .iter()
                .flat_map(|body| parts.iter().map(move |part| joined(body, part)));
            bodies = joined.collect();
        }
        return bodies;
    }
    bodies_of_part(document, schema, named)
}

fn bodies_of_part(document: &Value, schema: &Value, named: Named<'_>) -> Vec<Value> {
    let schema = resolved(document, schema);
    let alternatives = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    if let Some(alternatives) = alternatives {
        let some = alternatives.iter().filter(|one| one["type"] != "null");
        return some.flat_map(|one| bodies(document, one, named)).collect();
    }
    vec![value(document, "", schema, named)]
}

fn joined(one: &Value, other: &Value) -> Value {
    let mut fields = one.as_object().cloned().unwrap_or_default();
    fields.extend(other.as_object().cloned().unwrap_or_default());
    Value::Object(fields)
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(name) => resolved(document, document.pointer(&name[1..]).expect(name)),
        None => schema,
    }
}

/// A value that the schema allows, with the fields that are required, keys of idempotency and what names a subscription.
fn value(document: &Value, name: &str, schema: &Value, named: Named<'_>) -> Value {
    if let Some(value) = named(name) {
        return value;
    }
    let schema = resolved(document, schema);
    for several in ["allOf", "oneOf"] {
        if schema[several].is_array() {
            return bodies(document, schema, named).swap_remove(0);
        }
    }
    let example = schema.get("example").or_else(|| schema["examples"].get(0));
    if let Some(value) = schema["enum"].get(0).or(example) {
        return value.clone();
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    match kind.unwrap_or("object") {
        "string" => "Something".into(),
        "boolean" => false.into(),
        "integer" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        "array" => json!([bodies(document, &schema["items"], named)[0]]),
        "object" => {
            let mut fields = Map::new();
            let required = schema["required"].as_array().into_iter().flatten();
            let required: Vec<_> = required.filter_map(Value::as_str).collect();
            let properties = &schema["properties"];
            // Of the two names of a subscription one has to be there.
            let is_wanted = |name: &str| {
                name == "idempotencyKey"
                    || name == "productId" && properties["subscriptionId"].is_object()
            };
            for (name, field) in properties.as_object().into_iter().flatten() {
                if required.contains(&&**name) || is_wanted(name) {
                    fields.insert(name.clone(), value(document, name, field, named));
                }
            }
            Value::Object(fields)
        }
        other => panic!("a value of type {other}: {schema}"),
    }
}
