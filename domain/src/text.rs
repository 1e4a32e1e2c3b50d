//! Bounded texts that callers send, parsed once at the edge.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The text breaks its kind's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TextError(pub &'static str);

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks the bounds; the error says which one is broken, in one sentence.
            pub fn new(text: impl Into<Box<str>>) -> Result<Self, TextError> {
                let text = text.into();
                $check(&text)?;
                Ok(Self(text))
            }

            /// The text as it was sent.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

text!(/// Names one logical operation; 1 to 255 characters, compared exactly.
    IdempotencyKey, check_key);
text!(/// The caller's own user id: 1 to 255 characters without control characters, compared exactly.
    ExternalUserId, check_user);
text!(/// A feature slug: 1 to 100 characters of `a-z A-Z 0-9 . _ : -`.
    Feature, check_feature);
text!(/// A JSON object of at most 4 KiB, kept as the text that was sent (minus insignificant space).
    Meta, check_meta);

/// Largest `meta`, in bytes of JSON text.
pub const MAX_META_BYTES: usize = 4096;

fn check_length(text: &str, max: usize, message: &'static str) -> Result<(), TextError> {
    // Bytes bound characters from above: only long texts need counting.
    let fits = !text.is_empty() && (text.len() <= max || text.chars().count() <= max);
    if fits {
        Ok(())
    } else {
        Err(TextError(message))
    }
}

fn check_key(text: &str) -> Result<(), TextError> {
    check_length(text, 255, "An idempotency key has 1 to 255 characters.")
}

fn check_user(text: &str) -> Result<(), TextError> {
    check_length(text, 255, "An external user id has 1 to 255 characters.")?;
    if text.chars().any(char::is_control) {
        return Err(TextError("An external user id has no control characters."));
    }
    Ok(())
}

fn check_feature(text: &str) -> Result<(), TextError> {
    check_length(text, 100, "A feature slug has 1 to 100 characters.")?;
    if text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b))
    {
        Ok(())
    } else {
        Err(TextError(
            "A feature slug has only letters, digits and . _ : or -.",
        ))
    }
}

fn check_meta(text: &str) -> Result<(), TextError> {
    if text.len() > MAX_META_BYTES {
        return Err(TextError("meta is a JSON object of at most 4 KiB."));
    }
    Ok(())
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
}
