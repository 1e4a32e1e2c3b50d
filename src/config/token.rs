//! A token in the settings. Only its hash is kept, so that nothing can show it.

use std::fmt;

use serde::{Deserialize, Deserializer, de::Error as _};

use crate::catalog::sha256;

/// Shorter tokens can be guessed.
const MIN_LENGTH: usize = 16;

/// The hash of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl Token {
    /// The hash that a request's token is compared with.
    pub const fn sha256(&self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// An empty text means none. The error does not repeat the text.
pub(super) fn empty_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Token>, D::Error> {
    let text = String::deserialize(from)?;
    match text.len() {
        0 => Ok(None),
        MIN_LENGTH.. => Ok(Some(Token(sha256(text.as_bytes())))),
        _ => Err(D::Error::custom(format!(
            "metrics.token has fewer than {MIN_LENGTH} characters"
        ))),
    }
}
