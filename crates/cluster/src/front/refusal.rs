//! What the front answers itself, as the API writes it.

use actors::clock::{Clock as _, SystemClock};
use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use wire::{Error, ErrorCode, headers::X_REQUEST_ID, request_id::RequestId};

use crate::front::headers::NOT_LEADING;

/// What pages may read of a refusal beside its body.
const READABLE: HeaderValue = HeaderValue::from_static("retry-after,x-request-id");

/// Writes a refusal out. Pages of other origins may read it: there is nothing in it that was not asked for.
pub(super) fn refuse(error: &Error, headers: &HeaderMap) -> Response {
    let id = RequestId::new(SystemClock::new().now());
    let mut response = error.clone().into_response();
    response.extensions_mut().remove::<Error>();
    error.write(&mut response, id);
    let own = response.headers_mut();
    own.insert(X_REQUEST_ID, id.text().header());
    if headers.contains_key(header::ORIGIN) {
        own.insert(
            header::ACCESS_CONTROL_ALLOW_ORIGIN,
            HeaderValue::from_static("*"),
        );
        own.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READABLE);
    }
    response
}

/// The answer where no process leads, or where it is not known what the leader did.
pub(super) fn unavailable() -> Error {
    Error::new(ErrorCode::Unavailable)
}

/// The answer where so much is held or under way that no more is begun.
pub(super) fn overloaded() -> Error {
    Error::new(ErrorCode::Overloaded)
}

/// The answer to a process that passes a request on to one that does not lead.
pub(super) fn not_leading(headers: &HeaderMap) -> Response {
    let mut response = refuse(&unavailable(), headers);
    let yes = HeaderValue::from_static("true");
    response.headers_mut().insert(NOT_LEADING, yes);
    response
}
