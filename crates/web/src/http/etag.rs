//! `ETag` and `If-Match`: a change names the version that was read, so that it overwrites no other change.

use axum::{
    Json,
    extract::FromRequestParts,
    http::{HeaderValue, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use catalog::sha256;
use data_encoding::HEXLOWER;
use serde::Serialize;
use wire::{Error, ErrorCode};

/// The values of `If-Match`, if it was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct IfMatch(Option<String>);

impl IfMatch {
    /// Whether it asks for anything.
    pub(crate) const fn is_sent(&self) -> bool {
        self.0.is_some()
    }

    /// Refuses to save over something that is not what was read.
    pub(crate) fn check<T: Serialize>(&self, current: &T) -> Result<(), Error> {
        let Some(wanted) = &self.0 else { return Ok(()) };
        let tag = tag(current);
        let mut wanted = wanted.split(',').map(str::trim);
        match wanted.any(|one| one == "*" || one == tag) {
            true => Ok(()),
            false => Err(Error::new(ErrorCode::ChangedMeanwhile)),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let sent = parts.headers.get_all(header::IF_MATCH).iter();
        // What cannot be read matches nothing.
        let values: Vec<_> = sent
            .map(|value| value.to_str().unwrap_or_default())
            .collect();
        Ok(Self((!values.is_empty()).then(|| values.join(","))))
    }
}

/// What is shown, with its `ETag`.
pub(crate) fn tagged<T: Serialize>(view: &T) -> Response {
    tagged_as(view, view)
}

/// What is shown, with the `ETag` of the part of it that can be saved.
pub(crate) fn tagged_as<T: Serialize>(view: &T, version: &T) -> Response {
    let mut response = Json(view).into_response();
    if let Ok(tag) = HeaderValue::from_str(&tag(version)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn tag<T: Serialize>(view: &T) -> String {
    let json = serde_json::to_vec(view).unwrap_or_default();
    let hash = sha256(&json);
    let half = hash.first_chunk::<16>().copied().unwrap_or_default();
    format!("\"{}\"", HEXLOWER.encode(&half))
}
