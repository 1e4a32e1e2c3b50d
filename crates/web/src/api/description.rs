//! The OpenAPI document of the API.

use serde_json::Value;

use super::{PREFIX, event_schemas, operations};
use crate::http::openapi::Interface;

const DESCRIPTION: &str = "\
Credit wallets: anonymous ones that a recovery code opens, and those of your own users; a catalog of \
products and prices; checkout, orders and subscriptions through a payment provider.\n\n\
In paths `/wallets/{code}…` the word `code` may stand in place of the code, which is then in the header \
`X-Wallet-Code`: so no log of a proxy has it.\n\n\
Send an API key as `Authorization: Bearer <key>`. A publishable key (`pay_pk_…`) may live in a \
browser; a secret key (`pay_sk_…`) may not, and is accepted wherever a publishable one is. A restricted key (`pay_rk_…`) is a secret key for \
what its `can` names (an operation's `x-ability`) alone. A wallet's \
session (`pay_ws_…`) opens that wallet alone, which then need not be named.\n\n\
Amounts are whole numbers up to 2^53 - 1. Timestamps are ISO 8601 in UTC with milliseconds. Unknown \
fields are ignored, unless the header `Prefer: handling=strict` is sent. A refusal is a JSON object with a stable `code`; when several apply: \
authentication, rate limit, kind of key, media type and size, shape of the body, unknown ids, \
idempotency and other states, funds.";

const INTERFACE: Interface = Interface {
    title: "Scrip",
    description: DESCRIPTION,
    base: PREFIX,
    keys: &[
        ("publishable", "A publishable key: `pay_pk_…`"),
        (
            "secret",
            "A secret key: `pay_sk_…`, or a restricted one: `pay_rk_…`. Never send them to a browser.",
        ),
        (
            "session",
            "A wallet's session: `pay_ws_…`. It opens one wallet for a while, and is meant for its owner's browser.",
        ),
    ],
};

/// The document that is served at `/api/openapi.json`.
#[must_use]
pub fn document() -> Value {
    let mut document = INTERFACE.document(operations());
    event_schemas::describe(&mut document);
    document
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn described() -> Value {
        document()
    }

    #[test]
    fn paths_are_relative_to_the_server() {
        let document = described();
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["servers"], json!([{ "url": "/api/v1" }]));
        let paths = document["paths"].as_object().unwrap();
        assert!(
            paths.keys().all(|path| !path.starts_with("/api")),
            "{:?}",
            paths.keys()
        );
        for path in [
            "/products",
            "/wallets/external/deduct",
            "/holds/{holdId}/settle",
        ] {
            assert!(paths.contains_key(path), "{path}");
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn walk(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(map) => {
                    if let Some(Value::String(to)) = map.get("$ref") {
                        found.push(to.clone());
                    }
                    map.values().for_each(|value| walk(value, found));
                }
                Value::Array(list) => list.iter().for_each(|value| walk(value, found)),
                _ => {}
            }
        }
        let document = described();
        let mut found = Vec::new();
        walk(&document, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn refusals_and_their_headers_are_described() {
        let document = described();
        let deduct = &document["paths"]["/wallets/{code}/deduct"]["post"]["responses"];
        for status in [
            "200", "400", "401", "402", "404", "409", "413", "415", "429", "500", "503",
        ] {
            assert!(
                deduct[status]["headers"]["X-Request-Id"].is_object(),
                "{status}"
            );
        }
        assert!(deduct["429"]["headers"]["Retry-After"].is_object());
        assert!(deduct["200"]["headers"]["RateLimit-Limit"].is_object());
        let external = &document["paths"]["/wallets/external/deduct"]["post"]["responses"];
        assert!(external["403"].is_object());
        assert!(external["429"].is_null());
    }
}
