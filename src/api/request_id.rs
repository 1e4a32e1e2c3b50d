//! A request's identifier: `req_` and a UUID version 7 in Crockford's base32, as all identifiers.

use axum::http::HeaderValue;
use uuid::Uuid;

const PREFIX: &[u8; 4] = b"req_";
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Names one request, in its response and in the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestId(u128);

/// The identifier as text, without an allocation.
#[derive(Debug, Clone, Copy)]
pub struct RequestIdText([u8; 30]);

impl RequestId {
    /// A new one.
    #[must_use]
    pub fn new() -> Self {
        Self(Uuid::now_v7().as_u128())
    }

    /// As text.
    #[must_use]
    pub fn text(self) -> RequestIdText {
        let mut text = [0_u8; 30];
        let (prefix, body) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX);
        let mut rest = self.0;
        for slot in body.iter_mut().rev() {
            // Five bits index a table of 32.
            *slot = ALPHABET.get((rest & 31) as usize).copied().unwrap_or(b'0');
            rest >>= 5;
        }
        RequestIdText(text)
    }
}

impl Default for RequestId {
    fn default() -> Self {
        Self::new()
    }
}

impl RequestIdText {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only ASCII was written.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The text as a header's value.
    #[must_use]
    pub fn header(&self) -> HeaderValue {
        // Only letters, digits and an underscore: always a valid value.
        HeaderValue::from_bytes(&self.0).unwrap_or(HeaderValue::from_static("req_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_like_all_others() {
        let id = RequestId::new();
        let expected = domain::id::ProductId(id.0)
            .to_string()
            .replace("prod_", "req_");
        assert_eq!(id.text().as_str(), expected);
        assert_eq!(id.text().header().to_str().unwrap(), expected);
    }
}
