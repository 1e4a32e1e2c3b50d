//! Names of the headers that are Scrip's own.

use axum::http::HeaderName;

/// The request's identifier, on every response.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// How many requests the limit allows at once.
pub const RATE_LIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
/// How many of them are left.
pub const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
/// Whole seconds until the limit is full again.
pub const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
/// The caller's key, in place of the body's `idempotencyKey`.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// A wallet's recovery code, in place of the one in a path that says `code`.
pub const X_WALLET_CODE: HeaderName = HeaderName::from_static("x-wallet-code");
/// The id of the last event that the reader of a stream has seen.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// `true` on the answer to a repeated request.
pub const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// What the caller prefers of a request's handling (RFC 7240).
pub const PREFER: HeaderName = HeaderName::from_static("prefer");
/// Which of it was done.
pub const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
