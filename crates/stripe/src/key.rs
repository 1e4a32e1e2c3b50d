//! The two keys of a request: the account's secret key, never printed, and the idempotency key, under which Stripe
//! performs an operation once.

use std::fmt;

use payments_port::Operation;
use reqwest::header::HeaderValue;
use uuid::Uuid;

use super::error::Error;

/// Longer than any key that Stripe makes.
const MAX_SECRET_BYTES: usize = 512;

/// The secret key of a Stripe account, `sk_` or `rk_`. Never printed.
#[derive(Clone)]
pub struct SecretKey {
    text: Box<str>,
    /// Marked sensitive, so that no library prints it.
    bearer: HeaderValue,
}

impl SecretKey {
    /// Takes 1 to 512 visible ASCII characters; `None` for anything else.
    pub fn new(text: &str) -> Option<Self> {
        let fits = (1..=MAX_SECRET_BYTES).contains(&text.len());
        if !fits || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let mut bearer = HeaderValue::try_from(format!("Bearer {text}")).ok()?;
        bearer.set_sensitive(true);
        Some(Self {
            text: text.into(),
            bearer,
        })
    }

    /// The key in plain text, not to be printed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn bearer(&self) -> HeaderValue {
        self.bearer.clone()
    }

    /// Removes this key from an external text.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&*self.text, "[secret key]")
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// The idempotency key of one operation: with the same form Stripe performs it once and replays the answer for at least
/// 24 hours; with another form it refuses.
pub(super) fn operation(name: impl fmt::Display) -> Result<Operation, Error> {
    let nameless = || Error::garbage("an identifier that cannot be sent");
    Operation::new(name.to_string()).ok_or_else(nameless)
}

/// A unique idempotency key for an operation that may be repeated: under an old one Stripe would replay its first
/// answer for a day.
pub(super) fn unique(name: impl fmt::Display) -> Result<Operation, Error> {
    operation(format!("{name}/{}", Uuid::new_v4().simple()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed_by_anything() {
        let key = SecretKey::new("sk_test_verysecret").unwrap();
        assert_eq!(format!("{key:?}"), "SecretKey(..)");
        assert!(!format!("{:?}", key.bearer()).contains("verysecret"));
        assert_eq!(
            key.redact("no such key: sk_test_verysecret."),
            "no such key: [secret key]."
        );
    }

    #[test]
    fn what_cannot_be_a_header_is_no_key() {
        for text in ["", "a b", "a\nb", "é", &"x".repeat(513)] {
            assert!(SecretKey::new(text).is_none(), "{text:?}");
            assert!(operation(text).is_err(), "{text:?}");
        }
        assert!(operation("x".repeat(255)).is_ok());
        assert!(operation("x".repeat(256)).is_err());
    }
}
