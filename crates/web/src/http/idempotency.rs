//! The key that names an operation: a field of the body or the `Idempotency-Key` header.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, request::Parts},
};
use domain::text::IdempotencyKey;
use wire::{
    error::Error,
    field::{KeyText, Text},
    headers::IDEMPOTENCY_KEY,
};

const FIELD: &str = "idempotencyKey";

/// The header, if it was sent.
#[derive(Debug)]
pub(crate) struct KeyHeader(Option<HeaderValue>);

impl<S: Sync> FromRequestParts<S> for KeyHeader {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Ok(Self::of(&parts.headers))
    }
}

impl KeyHeader {
    /// Takes the header from those of a request.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self(headers.get(IDEMPOTENCY_KEY).map(unquoted))
    }

    /// The key, from the header or the body's field. Where both are sent they have to be equal.
    pub(crate) fn or(&self, field: Option<KeyText>) -> Result<IdempotencyKey, Error> {
        let Some(header) = &self.0 else {
            return required(field);
        };
        match field {
            Some(Text(key)) if key.as_str().as_bytes() == header.as_bytes() => Ok(key),
            Some(_) => {
                let message = "idempotencyKey and the header Idempotency-Key have to be equal.";
                Err(Error::invalid(FIELD, message))
            }
            None => read(header),
        }
    }

    /// The key, where it may be left out.
    pub(crate) fn resolve_optional(
        &self,
        field: Option<KeyText>,
    ) -> Result<Option<IdempotencyKey>, Error> {
        match (&self.0, field) {
            (None, None) => Ok(None),
            (_, field) => self.or(field).map(Some),
        }
    }
}

/// A header's value without the double quotes around it: structured headers write a text in them.
fn unquoted(header: &HeaderValue) -> HeaderValue {
    let inner = header.as_bytes().strip_prefix(b"\"");
    let inner = inner.and_then(|rest| rest.strip_suffix(b"\""));
    let inner = inner.and_then(|inner| HeaderValue::from_bytes(inner).ok());
    inner.unwrap_or_else(|| header.clone())
}

/// The key in the header, where there is no field.
fn read(header: &HeaderValue) -> Result<IdempotencyKey, Error> {
    let Ok(header) = std::str::from_utf8(header.as_bytes()) else {
        let message = "The header Idempotency-Key is not UTF-8.";
        return Err(Error::invalid(FIELD, message));
    };
    IdempotencyKey::new(header).map_err(|error| Error::text(FIELD, error))
}

/// The key in the field, where there is no header.
pub(crate) fn required(field: Option<KeyText>) -> Result<IdempotencyKey, Error> {
    let Text(key) = field.ok_or_else(|| Error::missing(FIELD))?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(header: Option<&str>, field: Option<&str>) -> Result<String, Error> {
        let field = field.map(|text| Text(IdempotencyKey::new(text).unwrap()));
        let sent = |text| (IDEMPOTENCY_KEY, HeaderValue::from_str(text).unwrap());
        let header = KeyHeader::of(&header.map(sent).into_iter().collect());
        header.or(field).map(|key| key.as_str().to_owned())
    }

    #[test]
    fn the_header_replaces_the_field_and_may_not_contradict_it() {
        assert_eq!(key(None, Some("a")).unwrap(), "a");
        assert_eq!(key(Some("a"), None).unwrap(), "a");
        assert_eq!(key(Some("é"), Some("é")).unwrap(), "é");
        assert_eq!(key(Some("\"a b\""), None).unwrap(), "a b");
        assert_eq!(key(Some("\"a\""), Some("a")).unwrap(), "a");
        for half in ["\"", "a\"", "\"a", "a\"b"] {
            assert_eq!(key(Some(half), None).unwrap(), half);
        }
        for (header, field) in [
            (None, None),
            (Some("a"), Some("b")),
            (Some(""), None),
            (Some("\"\""), None),
        ] {
            assert_eq!(
                key(header, field).unwrap_err().param(),
                Some("idempotencyKey")
            );
        }
        assert!(key(Some(&"x".repeat(255)), None).is_ok());
        assert!(key(Some(&"x".repeat(256)), None).is_err());
    }
}
