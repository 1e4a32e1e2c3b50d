//! A field of a change: left out, null, or a value. Left out means unchanged; null clears a field
//! that can be cleared.

use serde::{Deserialize, Deserializer};
use wire::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Field<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // Serde calls this only where the field is present.
        Ok(Option::deserialize(from)?.map_or(Self::Null, Self::Value))
    }
}

impl<T> Field<T> {
    /// The change of a field that can be cleared: `Some(None)` clears it.
    pub(crate) fn nullable(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }

    /// The change of a field that cannot be cleared.
    pub(crate) fn not_null(self, param: &str) -> Result<Option<T>, Error> {
        match self {
            Self::Absent => Ok(None),
            Self::Null => Err(Error::invalid(param, format!("{param} cannot be null."))),
            Self::Value(value) => Ok(Some(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Change {
        #[serde(default)]
        name: Field<String>,
    }

    #[test]
    fn absent_null_and_a_value_are_three_things() {
        let read = |text| serde_json::from_str::<Change>(text).unwrap().name;
        assert_eq!(read("{}").nullable(), None);
        assert_eq!(read(r#"{"name":null}"#).nullable(), Some(None));
        assert_eq!(read(r#"{"name":"x"}"#).nullable(), Some(Some("x".into())));
        assert_eq!(read("{}").not_null("name"), Ok(None));
        assert_eq!(
            read(r#"{"name":null}"#)
                .not_null("name")
                .unwrap_err()
                .param(),
            Some("name")
        );
    }
}
