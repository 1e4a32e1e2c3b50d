//! Values of which there are a few, as they are written.

use std::fmt;

use serde::Serialize;

/// What this value, which is one of a few, is called in the API.
pub fn word(value: impl Serialize) -> String {
    Word(value).to_string()
}

struct Word<T>(T);

impl<T: Serialize> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}
