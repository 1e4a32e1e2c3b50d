//! Instants as they are written: ISO 8601 in UTC with milliseconds.

use std::{fmt, ops::Deref};

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

/// An instant. It is a [`Timestamp`] that is written as the API writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
pub struct Instant(pub Timestamp);

impl Deref for Instant {
    type Target = Timestamp;

    fn deref(&self) -> &Timestamp {
        &self.0
    }
}

impl From<Instant> for Timestamp {
    fn from(instant: Instant) -> Self {
        instant.0
    }
}

impl PartialEq<Timestamp> for Instant {
    fn eq(&self, other: &Timestamp) -> bool {
        self.0 == *other
    }
}

impl PartialOrd<Timestamp> for Instant {
    fn partial_cmp(&self, other: &Timestamp) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(other)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "server")]
mod description {
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{
            ObjectBuilder, RefOr, SchemaFormat,
            schema::{KnownFormat, Schema, Type},
        },
    };

    use super::Instant;

    impl Instant {
        /// The description of a text that is an instant.
        pub fn describe(string: ObjectBuilder) -> ObjectBuilder {
            string
                .description(Some(
                    "An instant, ISO 8601; in answers in UTC with milliseconds.",
                ))
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
                .examples(["2099-12-31T23:00:00.000Z"])
        }
    }

    impl PartialSchema for Instant {
        fn schema() -> RefOr<Schema> {
            Self::describe(ObjectBuilder::new().schema_type(Type::String)).into()
        }
    }

    impl ToSchema for Instant {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_milliseconds_and_a_z() {
        let at = |milliseconds| {
            Timestamp::from_millisecond(milliseconds)
                .map(Instant)
                .unwrap()
        };
        assert_eq!(at(0).to_string(), "1970-01-01T00:00:00.000Z");
        let written = serde_json::to_value(at(1_795_000_000_120)).unwrap();
        assert_eq!(written, "2026-11-18T11:06:40.120Z");
        let read: Instant = serde_json::from_value(written).unwrap();
        assert_eq!(read, at(1_795_000_000_120));
    }
}
