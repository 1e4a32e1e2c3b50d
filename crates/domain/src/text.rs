//! Bounded texts from callers, parsed once at the edge.

use std::{collections::BTreeMap, fmt};

use serde_json::value::RawValue;

/// The text is out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TextError(pub &'static str);

/// Defines a text whose bounds a function checks, also when it is deserialized.
#[macro_export]
macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks the bounds.
            /// # Errors
            /// One sentence that names the broken bound.
            pub fn new(text: impl Into<Box<str>>) -> Result<Self, $crate::text::TextError> {
                let text = text.into();
                $check(&text)?;
                Ok(Self(text))
            }

            /// The text as it was sent.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text: Box<str> = ::serde::Deserialize::deserialize(from)?;
                Self::new(text).map_err(::serde::de::Error::custom)
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }
    };
}

/// A provider's identifier of an object, 1 to 255 printable ASCII characters.
macro_rules! reference {
    ($(#[$doc:meta])* $name:ident) => {
        text!($(#[$doc])* $name, check_reference);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

    };
}

text!(/// Names one logical operation; 1 to 255 characters, compared exactly.
    IdempotencyKey, check_key);
text!(/// The caller's own user id: 1 to 255 characters without control characters, compared exactly.
    ExternalUserId, check_user);
text!(/// One of those who share a wallet, by the caller's own id: 1 to 255 characters without control characters.
    Member, check_member);
text!(/// A feature slug: 1 to 100 characters of `a-z A-Z 0-9 . _ : -`.
    Feature, check_feature);
text!(/// A JSON object of at most 4 KiB, kept as the text that was sent (minus insignificant space).
    Meta, check_meta);

text!(/// Why a wallet is frozen: 1 to 500 characters.
    FreezeReason, check_freeze_reason);
text!(/// A buyer's email address, as the provider or the caller gave it: up to 320 characters.
    Email, check_email);
reference!(/// The provider's name for a checkout session (`cs_…`); callers see it.
    CheckoutId);
reference!(/// The provider's name for a buyer.
    CustomerId);
reference!(/// The provider's name for a payment.
    PaymentId);
reference!(/// The provider's name for a card on file (`pm_…`).
    CardId);
reference!(/// The provider's name for an invoice.
    InvoiceId);
reference!(/// The provider's name for a subscription.
    SubscriptionId);

text!(/// The URL of one of the provider's pages: `https:` or `http:`, up to 1,000 printable characters.
    PageUrl, check_page);

/// The largest `meta`, in bytes of JSON text.
pub const MAX_META_BYTES: usize = 4096;

fn ensure(holds: bool, message: &'static str) -> Result<(), TextError> {
    match holds {
        true => Ok(()),
        false => Err(TextError(message)),
    }
}

fn check_length(text: &str, max: usize, message: &'static str) -> Result<(), TextError> {
    // Bytes bound characters from above, so only long texts are counted.
    let fits = !text.is_empty() && (text.len() <= max || text.chars().count() <= max);
    ensure(fits, message)
}

fn check_key(text: &str) -> Result<(), TextError> {
    check_length(text, 255, "An idempotency key has 1 to 255 characters.")
}

fn check_user(text: &str) -> Result<(), TextError> {
    check_length(text, 255, "An external user id has 1 to 255 characters.")?;
    let is_plain = !text.chars().any(char::is_control);
    ensure(is_plain, "An external user id has no control characters.")
}

fn check_member(text: &str) -> Result<(), TextError> {
    check_length(text, 255, "A member has 1 to 255 characters.")?;
    let is_plain = !text.chars().any(char::is_control);
    ensure(is_plain, "A member has no control characters.")
}

fn check_freeze_reason(text: &str) -> Result<(), TextError> {
    check_length(text, 500, "A reason has 1 to 500 characters.")
}

fn check_email(text: &str) -> Result<(), TextError> {
    check_length(text, 320, "An email address has 3 to 320 characters.")?;
    // Only sending mail proves an address; this rejects what cannot be one.
    let halves = text.rsplit_once('@');
    let shaped = halves.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty());
    let is_one_word = !text.chars().any(|c| c.is_control() || c.is_whitespace());
    ensure(shaped && is_one_word, "This is not an email address.")
}

fn check_reference(text: &str) -> Result<(), TextError> {
    check_length(text, 255, "A provider's id has 1 to 255 characters.")?;
    let is_printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    ensure(
        is_printable,
        "A provider's id has only printable characters.",
    )?;
    // `.` and `..` would climb the URL path that the id is put into.
    let climbs = text.bytes().all(|byte| byte == b'.');
    ensure(!climbs, "A provider's id cannot consist of dots only.")
}

fn check_page(text: &str) -> Result<(), TextError> {
    // The sandbox's own pages are on a loopback address.
    let rest = text.strip_prefix("https://");
    let rest = rest.or_else(|| text.strip_prefix("http://"));
    let fits = rest.is_some_and(|rest| !rest.is_empty()) && text.len() <= 1000;
    let is_printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    ensure(fits && is_printable, "This is not the URL of a web page.")
}

fn check_feature(text: &str) -> Result<(), TextError> {
    check_length(text, 100, "A feature slug has 1 to 100 characters.")?;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    let message = "A feature slug has only letters, digits and . _ : or -.";
    ensure(text.bytes().all(is_allowed), message)
}

fn check_meta(text: &str) -> Result<(), TextError> {
    let fits = text.len() <= MAX_META_BYTES;
    ensure(fits, "meta is a JSON object of at most 4 KiB.")
}

impl Meta {
    /// Adds the former note's fields that this one lacks.
    /// # Errors
    /// Both together are too large.
    pub fn over(self, former: &Self) -> Result<Self, TextError> {
        let entries = |meta| serde_json::from_str::<BTreeMap<String, &RawValue>>(meta);
        let (Ok(mut all), Ok(own)) = (entries(&former.0), entries(&self.0)) else {
            return Ok(self);
        };
        all.extend(own);
        match serde_json::to_string(&all) {
            Ok(text) => Self::new(text),
            Err(_) => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_characters_not_bytes() {
        assert!(IdempotencyKey::new("é".repeat(255)).is_ok());
        assert!(IdempotencyKey::new("é".repeat(256)).is_err());
        assert!(IdempotencyKey::new("").is_err());
    }

    #[test]
    fn user_ids_refuse_control_characters_only() {
        assert!(ExternalUserId::new("Jo é@x/../ 😀").is_ok());
        assert!(ExternalUserId::new("a\u{0}b").is_err());
        assert!(ExternalUserId::new("a\nb").is_err());
    }

    #[test]
    fn an_email_address_has_two_halves_and_no_space() {
        for good in ["a@b", "jo.é+x@mail.example", "\"odd@one\"@b"] {
            assert!(Email::new(good).is_ok(), "{good}");
        }
        let long = format!("{}@b", "a".repeat(319));
        for bad in ["", "a", "@b", "a@", "a b@c", "a@b\n", &long] {
            assert!(Email::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_note_over_another_keeps_what_only_that_one_says() {
        let over = |own: &str, former: &str| {
            let merged = Meta::new(own).unwrap().over(&Meta::new(former).unwrap());
            merged.map(|meta| meta.as_str().to_owned())
        };
        let former = r#"{"feature":"chat","run":1.50,"deep":{"a":1}}"#;
        assert_eq!(
            over(
                r#"{"estimated":true,"deep":{"b":9007199254740993},"\u0072un":2}"#,
                former
            )
            .unwrap(),
            r#"{"deep":{"b":9007199254740993},"estimated":true,"feature":"chat","run":2}"#
        );
        assert_eq!(over("{}", "{}").unwrap(), "{}");
        let half = |name: &str| format!(r#"{{"{name}":"{}"}}"#, "x".repeat(MAX_META_BYTES / 2));
        assert!(over(&half("a"), &half("a")).is_ok());
        assert!(over(&half("a"), &half("b")).is_err());
    }

    #[test]
    fn a_page_is_on_the_web() {
        assert!(PageUrl::new("https://pay.example/receipts/1?s=ap").is_ok());
        assert!(PageUrl::new("http://127.0.0.1:8080/sandbox/1").is_ok());
        let long = format!("https://pay.example/{}", "a".repeat(981));
        for bad in [
            "",
            "https://",
            "javascript:alert(1)",
            "https://a b",
            "https://é",
            &long,
        ] {
            assert!(PageUrl::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_providers_id_is_printable() {
        assert!(CheckoutId::new("cs_test_a1B2").is_ok());
        for bad in ["", "cs 1", "cs\u{0}", "cs_é", ".", ".."] {
            assert!(CheckoutId::new(bad).is_err(), "{bad}");
        }
    }
}
