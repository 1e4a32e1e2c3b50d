//! The API's description for programs: what utoipa gathered from the handlers, plus what all
//! operations share. A handler lists the codes that are its own (`x-errors`); statuses, headers and
//! the codes that come with a body or a key follow here, from the table in `api/error.rs`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema, openapi::OpenApi};

use super::{code::Code, error::ErrorBody};

const DESCRIPTION: &str = "\
Credit wallets: anonymous ones that a recovery code opens, and those of your own users; a catalog of \
products and prices; checkout, orders and subscriptions through a payment provider.\n\n\
Send an API key as `Authorization: Bearer <key>`. A publishable key (`pay_pk_…`) may live in a \
browser; a secret key (`pay_sk_…`) may not, and is accepted wherever a publishable one is.\n\n\
Amounts are whole numbers up to 2^53 - 1. Timestamps are ISO 8601 in UTC with milliseconds. Unknown \
fields are ignored. A refusal is a JSON object with a stable `code`; when several apply: \
authentication, rate limit, kind of key, media type and size, shape of the body, unknown ids, \
idempotency and other states, funds.";

/// Codes that every operation may answer.
const OF_ALL: &[Code] = &[
    Code::MissingApiKey,
    Code::InvalidApiKey,
    Code::InternalError,
    Code::Overloaded,
    Code::Unavailable,
];
/// Codes of operations with a body.
const OF_BODIES: &[Code] = &[
    Code::InvalidRequest,
    Code::BodyTooLarge,
    Code::UnsupportedMediaType,
];

/// The document as it is served: OpenAPI 3.1 with the relative server address `/api/v1`.
#[must_use]
pub fn document(gathered: &OpenApi) -> Value {
    // A description is texts, numbers and lists of them: it can always be written.
    let mut document = serde_json::to_value(gathered).unwrap_or_default();
    let paths = document
        .get_mut("paths")
        .map(Value::take)
        .unwrap_or_default();
    let paths: Map<String, Value> = match paths {
        Value::Object(paths) => paths
            .into_iter()
            .map(|(path, item)| (relative(&path), finished(item)))
            .collect(),
        _ => Map::new(),
    };
    let mut schemas = document
        .pointer_mut("/components/schemas")
        .and_then(Value::as_object_mut)
        .map(std::mem::take)
        .unwrap_or_default();
    let error = serde_json::to_value(ErrorBody::schema()).unwrap_or_default();
    schemas.insert(ErrorBody::name().into_owned(), error);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Scrip",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/api/v1" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": headers(),
            "securitySchemes": {
                "publishable": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A publishable key: `pay_pk_…`",
                },
                "secret": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A secret key: `pay_sk_…`. Never send it to a browser.",
                },
            },
        },
    })
}

fn relative(path: &str) -> String {
    path.strip_prefix("/api/v1").unwrap_or(path).to_owned()
}

/// A path's operations with all their refusals and headers.
fn finished(mut item: Value) -> Value {
    for operation in item
        .as_object_mut()
        .into_iter()
        .flat_map(|item| item.values_mut())
    {
        finish(operation);
    }
    item
}

fn finish(operation: &mut Value) {
    let codes = codes(operation);
    let Some(responses) = operation
        .get_mut("responses")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    for response in responses.values_mut().filter_map(Value::as_object_mut) {
        response.insert("headers".into(), references(&success_headers(&codes)));
    }
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        by_status
            .entry(code.status().as_u16())
            .or_default()
            .push(code);
    }
    for (status, codes) in by_status {
        responses.insert(status.to_string(), refusal(status, &codes));
    }
}

/// Every code that an operation may answer.
fn codes(operation: &Value) -> Vec<Code> {
    let own = operation
        .get("x-errors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let own: Vec<&str> = own.filter_map(Value::as_str).collect();
    let has_body = operation.get("requestBody").is_some();
    let publishable = operation
        .get("security")
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|one| one.get("publishable").is_some()));
    let applies = |code: &Code| {
        own.contains(&code.as_str())
            || OF_ALL.contains(code)
            || (has_body && OF_BODIES.contains(code))
            || match code {
                Code::RateLimited => publishable,
                Code::SecretKeyRequired => !publishable,
                _ => false,
            }
    };
    Code::ALL.iter().copied().filter(applies).collect()
}

fn success_headers(codes: &[Code]) -> Vec<&'static str> {
    let mut names = vec!["X-Request-Id"];
    if codes.contains(&Code::RateLimited) {
        names.extend(["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]);
    }
    if codes.contains(&Code::IdempotencyKeyReused) || codes.contains(&Code::HoldClosed) {
        names.push("Idempotency-Replayed");
    }
    names
}

fn refusal(status: u16, codes: &[Code]) -> Value {
    let mut names = vec!["X-Request-Id"];
    match status {
        401 => names.push("WWW-Authenticate"),
        429 => {
            names.extend([
                "Retry-After",
                "RateLimit-Limit",
                "RateLimit-Remaining",
                "RateLimit-Reset",
            ]);
        }
        503 => names.push("Retry-After"),
        _ => {}
    }
    let lines: Vec<String> = codes
        .iter()
        .map(|code| format!("`{}`: {}", code.as_str(), code.message()))
        .collect();
    let examples: Map<String, Value> = codes.iter().map(|code| example(*code)).collect();
    json!({
        "description": lines.join("\n\n"),
        "headers": references(&names),
        "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/Error" },
            "examples": examples,
        } },
    })
}

fn example(code: Code) -> (String, Value) {
    let body = json!({
        "code": code.as_str(),
        "message": code.message(),
        "requestId": "req_01jd3v8q6pf6r9x3v1m2k4c5d7",
    });
    (code.as_str().to_owned(), json!({ "value": body }))
}

fn references(names: &[&str]) -> Value {
    let reference = |name: &&str| {
        (
            (*name).to_owned(),
            json!({ "$ref": format!("#/components/headers/{name}") }),
        )
    };
    Value::Object(names.iter().map(reference).collect())
}

/// Every header that a response may carry.
fn headers() -> Value {
    let text =
        |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    let number =
        |description: &str| json!({ "description": description, "schema": { "type": "integer" } });
    json!({
        "X-Request-Id": text("Names the request, here and in the server's logs: `req_…`"),
        "RateLimit-Limit": number("Requests that the limit allows at once. On a 429 these headers \
            describe the limit that refused."),
        "RateLimit-Remaining": number("How many of them are left."),
        "RateLimit-Reset": number("Whole seconds until all of them are there again."),
        "Retry-After": number("Whole seconds until it is worth trying again, at least 1."),
        "Idempotency-Replayed": text("`true` when an earlier request with the same key did the work."),
        "WWW-Authenticate": text("`Bearer`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> Value {
        document(&crate::api::router::routes().1)
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
    fn every_listed_code_exists() {
        let known: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        for (path, item) in described()["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let listed = operation["x-errors"].as_array().into_iter().flatten();
                for code in listed.filter_map(Value::as_str) {
                    assert!(known.contains(&code), "{method} {path}: {code}");
                }
            }
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
