//! Answers, written into one buffer.

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use serde::Serialize;

use super::{code::ErrorCode, error::Error, headers::IDEMPOTENCY_REPLAYED};

/// Enough for the answer to a deduction.
const BUFFER_BYTES: usize = 128;

/// A 200 with this body.
/// # Errors
/// Only where the body cannot be written, which is a defect.
pub fn json(body: &impl Serialize) -> Result<Response, Error> {
    json_with_capacity(body, BUFFER_BYTES)
}

/// A 200 with this body, which will have about so many bytes.
/// # Errors
/// As for [`json`].
pub fn json_with_capacity(body: &impl Serialize, bytes: usize) -> Result<Response, Error> {
    let mut buffer = Vec::with_capacity(bytes);
    // Texts, numbers and lists of them: writing them cannot fail.
    serde_json::to_writer(&mut buffer, body).map_err(|_| Error::new(ErrorCode::InternalError))?;
    let mut response = Response::new(Body::from(buffer));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

/// A 200 with this body, marked by a header when an earlier request did the work.
/// # Errors
/// As for [`json`].
pub fn replayable(body: &impl Serialize, replayed: bool) -> Result<Response, Error> {
    let mut response = json(body)?;
    if replayed {
        response
            .headers_mut()
            .insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}
