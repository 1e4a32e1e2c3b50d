//! The OpenAPI document of an interface: what utoipa gathered from the handlers, plus what all
//! operations share. A handler lists the codes that are its own (`x-errors`); statuses, headers and
//! the codes that come with a body, a key or a query follow here, from the table in `code.rs`. The API
//! and the administration both use it.

use std::collections::BTreeMap;

use axum::http::Method;
use edge::{ParametersByRoute, QueryParameters};
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema, openapi::OpenApi};
use wire::{code::ErrorCode, error::ErrorBody, view::Price};

/// Codes that every operation may answer with.
const COMMON_CODES: &[ErrorCode] = &[
    ErrorCode::InvalidRequest,
    ErrorCode::MissingApiKey,
    ErrorCode::InvalidApiKey,
    ErrorCode::InternalError,
    ErrorCode::Overloaded,
    ErrorCode::Unavailable,
];
/// Codes of operations with a body.
const BODY_CODES: &[ErrorCode] = &[ErrorCode::BodyTooLarge, ErrorCode::UnsupportedMediaType];

/// What each parameter of a path names, and the code where there is no such thing.
const PATH_PARAMETERS: &[(&str, &str, ErrorCode)] = &[
    ("projectId", "The project.", ErrorCode::ProjectNotFound),
    (
        "keyId",
        "The key's name, not the key.",
        ErrorCode::KeyNotFound,
    ),
    ("productId", "The product.", ErrorCode::ProductNotFound),
    ("priceId", "The price.", ErrorCode::PriceNotFound),
    ("webhookId", "The endpoint.", ErrorCode::WebhookNotFound),
    ("deliveryId", "The delivery.", ErrorCode::DeliveryNotFound),
    (
        "walletRef",
        "The wallet's `ref`, or its `wal_…`.",
        ErrorCode::WalletNotFound,
    ),
    ("paymentId", "The payment.", ErrorCode::PaymentNotFound),
    ("sessionId", "The session.", ErrorCode::SessionNotFound),
    ("userId", "The user.", ErrorCode::UserNotFound),
    (
        "ledgerId",
        "The deduction's entry in the ledger: `led_…`",
        ErrorCode::DeductionNotFound,
    ),
    (
        "orderIdOrCheckoutId",
        "`ord_…` or `cs_…`",
        ErrorCode::OrderNotFound,
    ),
    ("holdId", "`hold_…`", ErrorCode::HoldNotFound),
];

/// Headers that say how much of a rate limit is left.
const RATE_LIMIT: [&str; 3] = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/// What the document says of an interface besides its routes.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// Prefix of all its paths: the relative address of its server.
    pub(crate) base: &'static str,
    /// The kinds of key, each with its description.
    pub(crate) keys: &'static [(&'static str, &'static str)],
}

impl Interface {
    /// The document as it is served: OpenAPI 3.1, for any address that the service has.
    pub(crate) fn document(&self, gathered: &OpenApi) -> Value {
        // It consists of texts, numbers and lists of them: serializing it cannot fail.
        let mut document = serde_json::to_value(gathered).unwrap_or_default();
        let mut take = |pointer: &str| {
            let object = document.pointer_mut(pointer).and_then(Value::as_object_mut);
            object.map(std::mem::take).unwrap_or_default()
        };
        let paths: Map<String, Value> = take("/paths")
            .into_iter()
            .map(|(path, item)| (self.relative(&path), self.finished(&path, item)))
            .collect();
        let mut schemas = take("/components/schemas");
        schemas.insert(ErrorBody::name().into_owned(), written::<ErrorBody<'_>>());
        schemas
            .entry(Price::name())
            .or_insert_with(written::<Price>);
        let scheme = |(name, description): &(&str, &str)| {
            let scheme = json!({ "type": "http", "scheme": "bearer", "description": description });
            ((*name).to_owned(), scheme)
        };
        let schemes: Map<String, Value> = self.keys.iter().map(scheme).collect();
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": self.title,
                "version": env!("CARGO_PKG_VERSION"),
                "description": self.description,
                "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            },
            "servers": [{ "url": self.base }],
            "paths": paths,
            "components": {
                "schemas": schemas,
                "headers": headers(),
                "parameters": { "Prefer": {
                    "name": "Prefer",
                    "in": "header",
                    "description": "`handling=strict` (RFC 7240): an unknown field, at any depth of \
                        the body, is 400 `invalid_request` with its path as `param`, and not ignored.",
                    "schema": { "type": "string", "examples": ["handling=strict"] },
                } },
                "securitySchemes": schemes,
            },
        })
    }

    fn relative(&self, path: &str) -> String {
        path.strip_prefix(self.base).unwrap_or(path).to_owned()
    }

    /// A path's operations with all their refusals and headers.
    fn finished(&self, path: &str, mut item: Value) -> Value {
        let operations = item.as_object_mut().into_iter().flat_map(Map::values_mut);
        for operation in operations {
            add_path_parameters(path, operation);
            self.finish(operation);
        }
        item
    }

    fn finish(&self, operation: &mut Value) {
        if operation.get("security").is_none()
            && let [(key, _)] = self.keys
            && let Some(operation) = operation.as_object_mut()
        {
            operation.insert("security".into(), json!([{ *key: [] }]));
        }
        let has_body = operation.get("requestBody").is_some();
        if has_body && let Some(parameters) = list_of(operation, "parameters") {
            parameters.push(json!({ "$ref": "#/components/parameters/Prefer" }));
        }
        let codes = codes(operation);
        let Some(responses) = operation
            .get_mut("responses")
            .and_then(Value::as_object_mut)
        else {
            return;
        };
        let limited = codes.contains(&ErrorCode::RateLimited) && self.keys.len() > 1;
        let replays = codes.contains(&ErrorCode::IdempotencyKeyReused)
            || codes.contains(&ErrorCode::HoldClosed);
        for response in responses.values_mut().filter_map(Value::as_object_mut) {
            // The headers that the handler named, and those that all responses have.
            let own = response.get("headers").and_then(Value::as_object);
            let own: Vec<String> = own.into_iter().flat_map(Map::keys).cloned().collect();
            let mut names = vec!["X-Request-Id"];
            names.extend(own.iter().map(String::as_str));
            names.extend(limited.then_some(RATE_LIMIT).into_iter().flatten());
            names.extend(replays.then_some("Idempotency-Replayed"));
            names.extend(has_body.then_some("Preference-Applied"));
            response.insert("headers".into(), references(&names));
        }
        let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
        for code in codes {
            let status = code.status().as_u16();
            by_status.entry(status).or_default().push(code);
        }
        for (status, codes) in by_status {
            responses.insert(status.to_string(), refusal(status, &codes, limited));
        }
    }
}

/// Describes what the path names, and adds the codes where there is no such thing.
fn add_path_parameters(path: &str, operation: &mut Value) {
    let (mut parameters, mut errors) = (Vec::new(), Vec::new());
    for name in path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    {
        let known = PATH_PARAMETERS.iter().find(|(known, ..)| *known == name);
        if let Some((_, description, missing)) = known {
            let schema = json!({ "type": "string" });
            parameters.push(json!({
                "name": name, "in": "path", "description": description, "required": true, "schema": schema,
            }));
            errors.push(json!(missing.as_str()));
        }
    }
    for (name, values) in [("parameters", parameters), ("x-errors", errors)] {
        if !values.is_empty()
            && let Some(list) = list_of(operation, name)
        {
            list.splice(..0, values);
        }
    }
}

/// A list of an operation, which gets an empty one if it has none.
pub(crate) fn list_of<'a>(operation: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    let operation = operation.as_object_mut()?;
    operation
        .entry(name)
        .or_insert_with(|| json!([]))
        .as_array_mut()
}

/// The query parameters of all operations that are described.
pub static QUERY_PARAMETERS: QueryParameters = QueryParameters::gathered_by(described_parameters);

fn described_parameters() -> ParametersByRoute {
    let mut known = ParametersByRoute::new();
    for document in [
        crate::api::description::document(),
        crate::admin::description::document(),
    ] {
        let base = document.pointer("/servers/0/url").and_then(Value::as_str);
        let paths = document.get("paths").and_then(Value::as_object);
        for (path, item) in paths.into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes());
                let path = format!("{}{path}", base.unwrap_or_default());
                if let Ok(method) = method {
                    known.insert((method, path), query_of(operation));
                }
            }
        }
    }
    known
}

/// The names of an operation's query parameters.
fn query_of(operation: &Value) -> Vec<String> {
    let all = operation.get("parameters").and_then(Value::as_array);
    let of_query = all.into_iter().flatten().filter(|one| {
        let place = one.get("in");
        place.is_some_and(|place| place == "query")
    });
    let names = of_query.filter_map(|one| one.get("name")?.as_str());
    names.map(ToOwned::to_owned).collect()
}

/// A type's schema as JSON.
fn written<T: PartialSchema>() -> Value {
    serde_json::to_value(T::schema()).unwrap_or_default()
}

/// Every code that an operation may answer with.
fn codes(operation: &Value) -> Vec<ErrorCode> {
    let own = operation
        .get("x-errors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let own: Vec<&str> = own.filter_map(Value::as_str).collect();
    let has_body = operation.get("requestBody").is_some();
    let takes = |key: &str| {
        let keys = operation.get("security").and_then(Value::as_array);
        keys.is_some_and(|all| all.iter().any(|one| one.get(key).is_some()))
    };
    let applies = |code: &ErrorCode| {
        own.contains(&code.as_str())
            || COMMON_CODES.contains(code)
            || (has_body && BODY_CODES.contains(code))
            || match code {
                ErrorCode::RateLimited => {
                    takes("publishable") || takes("session") || takes("administrator")
                }
                ErrorCode::SecretKeyRequired => takes("secret") && !takes("publishable"),
                ErrorCode::SessionForbidden | ErrorCode::SessionExpired => takes("secret"),
                _ => false,
            }
    };
    ErrorCode::ALL.iter().copied().filter(applies).collect()
}

/// The response of a refusal with this status; `limited` for an operation that counts requests by
/// key.
fn refusal(status: u16, codes: &[ErrorCode], limited: bool) -> Value {
    let mut names = vec!["X-Request-Id"];
    match status {
        401 => names.push("WWW-Authenticate"),
        429 | 503 => names.push("Retry-After"),
        _ => {}
    }
    // Requests without a known key are not counted.
    if status == 429 || (limited && status != 401) {
        names.extend(RATE_LIMIT);
    }
    let lines: Vec<String> = codes
        .iter()
        .map(|code| format!("`{}`: {}", code.as_str(), code.message()))
        .collect();
    json!({
        "description": lines.join("\n\n"),
        "headers": references(&names),
        "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/Error" },
        } },
    })
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
        "Preference-Applied": text("`handling=strict` where that was preferred."),
        "WWW-Authenticate": text("`Bearer`"),
    })
}
