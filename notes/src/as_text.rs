//! A field of a body that is written as its text: `#[serde(with = "notes::as_text")]`.

use std::{fmt::Display, str::FromStr};

use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

/// Writes it.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Reads it.
///
/// # Errors
///
/// Those of the deserializer, and where the text is not one of these.
pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(D::Error::custom)
}
