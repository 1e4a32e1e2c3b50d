//! A request's identifier: `req_` and a UUID version 7 in Crockford's base32, as all identifiers. Its
//! random bits come from a generator of the thread's own: it is cheap, and shared with no secret, so
//! that the id of the next order cannot be guessed from them.

use std::{
    cell::Cell,
    hash::{BuildHasher, RandomState},
};

use axum::http::HeaderValue;
use domain::Timestamp;

const PREFIX: &[u8; 4] = b"req_";
/// Bits of a UUID that are not random: 48 of the time, 4 of the version, 2 of the variant.
const FIXED: u128 = !0 << 76 | 0b11 << 62;
const VERSION_7: u128 = 7 << 76;
const VARIANT: u128 = 0b10 << 62;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Names one request, in its response and in the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestId(u128);

/// The identifier as text, without an allocation.
#[derive(Debug, Clone, Copy)]
pub struct RequestIdText([u8; 30]);

impl RequestId {
    /// A new identifier for a request that arrived at this instant.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        let millis = u128::from(now.0.unsigned_abs()) << 80;
        let random = (u128::from(random()) << 64 | u128::from(random())) & !FIXED;
        Self(millis | VERSION_7 | VARIANT | random)
    }

    /// The identifier as text.
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

impl RequestIdText {
    /// The text: `req_` and 26 characters.
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

/// The next number of this thread: SipHash of a counter, under a random key from the operating
/// system. Earlier numbers do not tell the next one.
fn random() -> u64 {
    thread_local! {
        static STATE: (RandomState, Cell<u64>) = (RandomState::new(), Cell::new(0));
    }
    STATE.with(|(key, drawn)| {
        let next = drawn.get().wrapping_add(1);
        drawn.set(next);
        key.hash_one(next)
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn ids_are_uuids_of_their_time_and_never_the_same() {
        let now = Timestamp(1_800_000_000_123);
        let mut seen = std::collections::HashSet::new();
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(move || [(); 1000].map(|()| RequestId::new(now).0)))
            .collect();
        for id in threads.into_iter().flat_map(|t| t.join().unwrap()) {
            assert!(seen.insert(id));
            let uuid = Uuid::from_u128(id);
            assert_eq!(uuid.get_version_num(), 7);
            assert_eq!(uuid.get_variant(), uuid::Variant::RFC4122);
            let (seconds, nanos) = uuid.get_timestamp().unwrap().to_unix();
            assert_eq!((seconds, nanos), (1_800_000_000, 123_000_000));
        }
    }

    #[test]
    fn ids_are_written_like_all_others() {
        let id = RequestId::new(Timestamp(1_800_000_000_123));
        let expected = domain::id::ProductId(id.0)
            .to_string()
            .replace("prod_", "req_");
        assert_eq!(id.text().as_str(), expected);
        assert_eq!(id.text().header().to_str().unwrap(), expected);
    }
}
