//! Metadata: key-value pairs that a caller attaches to an order for their own use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::TextError;

/// The most pairs on one order.
pub const MAX_PAIRS: usize = 20;
/// The most characters of a key.
pub const MAX_KEY: usize = 40;
/// The most characters of a value.
pub const MAX_VALUE: usize = 500;
/// The most bytes of all pairs together: 20 of the longest ASCII pairs fit. Settling an order logs its metadata
/// twice, and all of that has to fit one append of the log.
pub const MAX_BYTES: usize = 11 * 1024;

/// At most 20 pairs of a key of 1 to 40 characters and a value of up to 500.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Box<str>, Box<str>>")]
pub struct Metadata(BTreeMap<Box<str>, Box<str>>);

impl Metadata {
    /// Checks the bounds.
    /// # Errors
    /// [`TextError`], one sentence that names the bound that is broken.
    pub fn new(pairs: BTreeMap<Box<str>, Box<str>>) -> Result<Self, TextError> {
        if pairs.len() > MAX_PAIRS {
            return Err(TextError("metadata has at most 20 pairs."));
        }
        let mut bytes = 0_usize;
        for (key, value) in &pairs {
            if key.is_empty() || key.chars().count() > MAX_KEY {
                return Err(TextError("A metadata key has 1 to 40 characters."));
            }
            if value.chars().count() > MAX_VALUE {
                return Err(TextError("A metadata value has at most 500 characters."));
            }
            bytes = bytes.saturating_add(key.len()).saturating_add(value.len());
        }
        if bytes > MAX_BYTES {
            return Err(TextError("metadata has at most 11 KiB in total."));
        }
        Ok(Self(pairs))
    }

    /// The pairs, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<BTreeMap<Box<str>, Box<str>>> for Metadata {
    type Error = TextError;

    fn try_from(pairs: BTreeMap<Box<str>, Box<str>>) -> Result<Self, TextError> {
        Self::new(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: usize, key: &str, value: &str) -> Result<Metadata, TextError> {
        let pairs = (0..pairs).map(|n| (format!("{key}{n:02}").into(), value.into()));
        Metadata::new(pairs.collect())
    }

    #[test]
    fn metadata_has_its_bounds() {
        let (key, value) = ("k".repeat(38), "v".repeat(500));
        assert_eq!(of(20, &key, &value).unwrap().iter().count(), 20);
        assert!(of(21, "k", "v").is_err());
        assert!(of(1, &format!("{key}k"), "v").is_err());
        assert!(of(1, &key, &format!("{value}v")).is_err());
        assert!(
            of(1, "é", &"é".repeat(500)).is_ok(),
            "characters, not bytes"
        );
        assert!(
            of(20, "k", &"é".repeat(500)).is_err(),
            "and not too many of either"
        );
        assert!(of(1, "k", "").is_ok() && of(0, "", "").unwrap().is_empty());
        assert!(Metadata::new([("".into(), "v".into())].into()).is_err());
    }
}
