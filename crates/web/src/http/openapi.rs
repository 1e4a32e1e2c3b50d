//! The OpenAPI document of an interface: its operations, plus what all of them share. An operation lists the codes that
//! are its own (`x-errors`), and what a restricted key needs (`x-ability`); statuses, headers and the codes that come with a body, a key or a path follow here, from the
//! table in `code.rs`. The API and the administration both use it.

use std::collections::BTreeMap;

use api_types::{ErrorBody, LimitState};
use axum::http::Method;
use domain::catalog::Ability;
use edge::{ParametersByRoute, QueryParameters};
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema as _, ToSchema as _};
use wire::{code::ErrorCode, view::Price};

use super::operation::{ADMINISTRATOR, ApiOperation, Description, PUBLISHABLE, SECRET};

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
    (
        "slug",
        "The name of a rate card",
        ErrorCode::RateCardNotFound,
    ),
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
    pub(crate) fn document<S>(&self, operations: Vec<ApiOperation<S>>) -> Value {
        let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        let mut schemas = Map::new();
        schemas.insert(ErrorBody::name().into_owned(), json!(ErrorBody::schema()));
        schemas.insert(Price::name().into_owned(), json!(Price::schema()));
        schemas.insert(LimitState::name().into_owned(), json!(LimitState::schema()));
        for ApiOperation {
            path, description, ..
        } in operations
        {
            let own = description.schemas.iter();
            schemas.extend(own.map(|(name, schema)| (name.clone(), json!(schema))));
            let method = description.method.to_ascii_lowercase();
            let item = paths.entry(path).or_default();
            item.insert(method, description.document());
        }
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
}

impl Description {
    /// Describes what the path names, and adds the codes where there is no such thing.
    pub(crate) fn add_path_parameters(&mut self, path: &str) {
        let parts = path.split('/');
        for name in parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            let known = PATH_PARAMETERS.iter().find(|(known, ..)| *known == name);
            if let Some((_, description, missing)) = known {
                self.parameters.push(json!({
                    "name": name, "in": "path", "description": description, "required": true,
                    "schema": { "type": "string" },
                }));
                self.errors.push(*missing);
            }
        }
    }

    /// The operation with all its refusals and headers.
    fn document(&self) -> Value {
        let security: Vec<_> = self.keys.iter().map(|key| json!({ *key: [] })).collect();
        let own = |code: &&ErrorCode| self.errors.contains(code);
        let own = ErrorCode::ALL.iter().filter(own);
        let errors: Vec<_> = own.map(|code| code.as_str()).collect();
        let document = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.text,
            "parameters": self.parameters,
            "requestBody": self.request_body(),
            "responses": self.responses(),
            "security": security,
            "x-ability": self.ability.map(Ability::as_str),
            "x-errors": errors,
        });
        // What an operation does not have is left out.
        let is_empty = |value: &Value| {
            matches!(value, Value::Null) || *value == json!("") || *value == json!([])
        };
        match document {
            Value::Object(fields) => fields
                .into_iter()
                .filter(|(_, value)| !is_empty(value))
                .collect(),
            other => other,
        }
    }

    fn request_body(&self) -> Option<Value> {
        let schema = self.body.as_ref()?;
        let content = |schema: &Value| json!({ "application/json": { "schema": schema } });
        Some(match self.may_omit_body {
            true => {
                json!({ "content": content(&json!({ "oneOf": [schema, { "type": "null" }] })) })
            }
            false => json!({ "content": content(schema), "required": true }),
        })
    }

    fn responses(&self) -> Map<String, Value> {
        let codes = self.codes();
        let limited = codes.contains(&ErrorCode::RateLimited) && !self.takes(ADMINISTRATOR);
        let mut names = vec!["X-Request-Id"];
        names.extend(limited.then_some(RATE_LIMIT).into_iter().flatten());
        let replays = self.replays || codes.contains(&ErrorCode::HoldClosed);
        names.extend(replays.then_some("Idempotency-Replayed"));
        names.extend(self.body.as_ref().map(|_| "Preference-Applied"));
        let mut success = Map::from_iter([
            ("description".to_owned(), json!(self.outcome)),
            ("headers".to_owned(), references(&names)),
        ]);
        if !self.content.is_empty() {
            success.insert("content".into(), json!(self.content));
        }
        let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
        for code in codes {
            let status = code.status().as_u16();
            by_status.entry(status).or_default().push(code);
        }
        let refusals = by_status
            .into_iter()
            .map(|(status, codes)| (status, refusal(status, &codes, limited)));
        let all = [(self.status, success.into())].into_iter().chain(refusals);
        all.map(|(status, response)| (status.to_string(), response))
            .collect()
    }

    fn takes(&self, key: &str) -> bool {
        self.keys.contains(&key)
    }

    /// Every code that it may answer with.
    fn codes(&self) -> Vec<ErrorCode> {
        let applies = |code: &ErrorCode| {
            self.errors.contains(code)
                || COMMON_CODES.contains(code)
                || (self.body.is_some() && BODY_CODES.contains(code))
                || match code {
                    ErrorCode::RateLimited => self.keys != [SECRET],
                    ErrorCode::PermissionMissing => self.ability.is_some(),
                    ErrorCode::SecretKeyRequired => self.takes(SECRET) && !self.takes(PUBLISHABLE),
                    ErrorCode::SessionForbidden | ErrorCode::SessionExpired => self.takes(SECRET),
                    _ => false,
                }
        };
        ErrorCode::ALL.iter().copied().filter(applies).collect()
    }
}

/// The query parameters of all operations that are described.
pub static QUERY_PARAMETERS: QueryParameters = QueryParameters::gathered_by(described_parameters);

fn described_parameters() -> ParametersByRoute {
    let mut known = ParametersByRoute::new();
    add_parameters(&mut known, crate::api::PREFIX, &crate::api::operations());
    add_parameters(
        &mut known,
        crate::admin::PREFIX,
        &crate::admin::operations(),
    );
    known
}

fn add_parameters<S>(known: &mut ParametersByRoute, prefix: &str, operations: &[ApiOperation<S>]) {
    for ApiOperation {
        path, description, ..
    } in operations
    {
        let parameters = description.parameters.iter();
        let of_query = parameters.filter(|one| one["in"] == "query");
        let names = of_query.filter_map(|one| one["name"].as_str());
        // A table names methods that exist.
        if let Ok(method) = description.method.parse::<Method>() {
            let route = (method, format!("{prefix}{path}"));
            known.insert(route, names.map(ToOwned::to_owned).collect());
        }
    }
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
