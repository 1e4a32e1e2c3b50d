//! What the document says of events beyond the types that a handler answers: which data each type of event has, and
//! that the same is sent as webhooks.

use serde_json::{Map, Value, json};
use wire::field::EVENT_TYPES;

/// Adds the types of events and the webhooks to the API's document.
pub(super) fn describe(document: &mut Value) {
    let Some(document) = document.as_object_mut() else {
        return;
    };
    let webhooks = EVENT_TYPES.map(|kind| (kind.to_owned(), webhook(kind)));
    document.insert("webhooks".into(), Map::from_iter(webhooks).into());
    let components = document.get_mut("components");
    let schemas = components.and_then(|all| all.get_mut("schemas")?.as_object_mut());
    let Some(schemas) = schemas else { return };
    schemas.insert("EventType".into(), types());
    let variants = EVENT_TYPES.map(|kind| (name(kind), of_type(kind, schemas)));
    schemas.extend(variants);
    // Data of one type may be read as that of another.
    if let Some(data) = schemas.get_mut("Data").and_then(Value::as_object_mut)
        && let Some(kinds) = data.remove("oneOf")
    {
        data.insert("anyOf".into(), kinds);
    }
    if let Some(event) = schemas.get_mut("Event").and_then(Value::as_object_mut) {
        event.extend(union());
        if let Some(fields) = event.get_mut("properties").and_then(Value::as_object_mut) {
            fields.insert("type".into(), reference("EventType"));
        }
        let message = message(event.clone());
        schemas.insert("Message".into(), message.into());
    }
}

/// That an event is one of its types, each with its own data.
fn union() -> [(String, Value); 2] {
    let of_type = EVENT_TYPES.map(|kind| (kind.to_owned(), Value::from(address(&name(kind)))));
    let discriminator = json!({ "propertyName": "type", "mapping": Map::from_iter(of_type) });
    let all = EVENT_TYPES.map(|kind| reference(&name(kind)));
    [
        ("discriminator".into(), discriminator),
        ("oneOf".into(), all.to_vec().into()),
    ]
}

/// The body of a webhook: an event whose identifier is in a header.
fn message(mut event: Map<String, Value>) -> Map<String, Value> {
    if let Some(fields) = event.get_mut("properties").and_then(Value::as_object_mut) {
        fields.remove("id");
    }
    if let Some(required) = event.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "id");
    }
    let about = "An event as the body of a webhook; its identifier is in a header.";
    event.insert("description".into(), about.into());
    event
}

fn types() -> Value {
    json!({
        "type": "string", "enum": EVENT_TYPES, "example": "order.paid",
        "description": "The type of an event. A later release may have more.",
    })
}

/// What an event of one type has: the name of it, and its data.
fn of_type(kind: &str, schemas: &Map<String, Value>) -> Value {
    let (data, has) = data(kind);
    let fields = schemas.get(data).and_then(|data| data.get("properties"));
    let field = |name: &&str| {
        let field = fields.and_then(|fields| fields.get(*name));
        ((*name).to_owned(), field.map(present).unwrap_or_default())
    };
    let fields: Map<String, Value> = has.iter().map(field).collect();
    let data = match has {
        [] => reference(data),
        has => json!({ "allOf": [
            reference(data), { "type": "object", "properties": fields, "required": has },
        ] }),
    };
    json!({
        "type": "object",
        "description": format!("What `{kind}` says."),
        "properties": { "type": { "type": "string", "const": kind }, "data": data },
        "required": ["type", "data"],
    })
}

/// A field's schema where the field is there, and not null.
fn present(field: &Value) -> Value {
    let is_null =
        |kind: &&Value| **kind == "null" || kind.get("type").is_some_and(|it| it == "null");
    let other = |all: &Value| all.as_array()?.iter().find(|kind| !is_null(kind)).cloned();
    let mut field = field.clone();
    if let Some(choice) = field.get("oneOf").and_then(other) {
        return choice;
    }
    if let Some(kind) = field.get("type").and_then(other)
        && let Some(field) = field.as_object_mut()
    {
        field.insert("type".into(), kind);
    }
    field
}

/// The schema of a type's data, and the fields that are there with this type.
fn data(kind: &str) -> (&'static str, &'static [&'static str]) {
    match kind {
        "order.disputed" => ("OrderData", &["dispute"]),
        "order.dispute_closed" => ("OrderData", &["dispute", "won"]),
        "wallet.created" | "wallet.frozen" | "wallet.thawed" => ("WalletData", &[]),
        "wallet.credited" => ("WalletData", &["productId", "balance", "delta", "reason"]),
        "wallet.balance_low" | "wallet.depleted" => ("WalletData", &["productId", "balance"]),
        "wallet.owing" | "wallet.repaid" => ("WalletData", &["productId", "balance", "owed"]),
        "limit.alert" => ("WalletData", &["limit", "percent"]),
        "limit.reached" => ("WalletData", &["limit"]),
        "top_up.succeeded" => (
            "TopUpData",
            &[
                "orderId",
                "amountCents",
                "currency",
                "productId",
                "credits",
                "balance",
            ],
        ),
        "top_up.failed" => ("TopUpData", &["orderId", "reason", "retryable"]),
        "top_up.suspended" => ("TopUpData", &["reason"]),
        "top_up.action_required" => ("TopUpData", &["orderId", "url"]),
        "features.changed" => ("WalletData", &["added", "removed"]),
        kind if kind.starts_with("subscription.") => ("WalletData", &["subscription"]),
        _ => ("OrderData", &[]),
    }
}

fn webhook(kind: &str) -> Value {
    let header = |name: &str, description: &str| {
        json!({
            "name": name, "in": "header", "required": true, "description": description,
            "schema": { "type": "string" },
        })
    };
    json!({ "post": {
        "operationId": format!("on{}", name(kind)),
        "summary": kind,
        "description": "Sent to the project's webhook endpoints, signed as in Standard Webhooks 1.0.",
        "tags": ["Events"],
        "security": [],
        "parameters": [
            header("webhook-id", "The event's identifier, the same in every delivery: `evt_…`"),
            header("webhook-timestamp", "When this attempt was sent, in seconds since 1970."),
            header("webhook-signature", "`v1,` and the signature; several with spaces between them \
                while the secret is being changed."),
        ],
        "requestBody": { "required": true, "content": { "application/json": { "schema": {
            "allOf": [reference("Message"), reference(&name(kind))],
        } } } },
        "responses": {
            "2XX": { "description": "Received: it is not sent again." },
            "410": { "description": "Gone: the endpoint is disabled." },
            "default": { "description": "It is sent again, for three days." },
        },
    } })
}

/// The schema's name: `OrderPaid` for `order.paid`.
fn name(kind: &str) -> String {
    let words = kind.split(['.', '_']);
    let capitalized = words.filter_map(|word| {
        let (first, rest) = word.split_at_checked(1)?;
        Some(first.to_uppercase() + rest)
    });
    capitalized.collect()
}

fn address(schema: &str) -> String {
    format!("#/components/schemas/{schema}")
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": address(schema) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_event_is_a_webhook_and_has_the_data_that_is_said_of_it() {
        let document = super::super::description::document();
        let schemas = &document["components"]["schemas"];
        let webhooks = document["webhooks"].as_object().unwrap();
        assert_eq!(webhooks.len(), EVENT_TYPES.len());
        assert_eq!(schemas["EventType"]["enum"], json!(EVENT_TYPES));
        assert_eq!(
            schemas["Event"]["oneOf"].as_array().unwrap().len(),
            EVENT_TYPES.len()
        );
        assert!(schemas["Message"]["properties"].get("id").is_none());
        for kind in EVENT_TYPES {
            assert!(webhooks.contains_key(kind), "{kind}");
            let variant = &schemas[name(kind)]["properties"];
            assert_eq!(variant["type"]["const"], kind);
            let (of, has) = data(kind);
            let required = variant["data"]["allOf"][1]["properties"].as_object();
            assert_eq!(required.map_or(0, Map::len), has.len());
            for (field, schema) in required.into_iter().flatten() {
                assert!(!schema.to_string().contains("null"), "{kind}: {field}");
            }
            for field in has {
                assert!(
                    schemas[of]["properties"].get(field).is_some(),
                    "{kind}: {field}"
                );
            }
        }
    }

    #[test]
    fn a_type_names_its_schema() {
        assert_eq!(name("order.dispute_closed"), "OrderDisputeClosed");
    }
}
