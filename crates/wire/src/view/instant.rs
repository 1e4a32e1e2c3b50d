//! Instants as they are written.

use std::fmt;

use domain::Timestamp;
use serde::{Serialize, Serializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::field::InstantText;

/// An instant as ISO 8601 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant(pub Timestamp);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.0.0).map_err(|_| fmt::Error)?;
        write!(f, "{instant:.3}")
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl PartialSchema for Instant {
    fn schema() -> RefOr<Schema> {
        InstantText::schema()
    }
}

impl ToSchema for Instant {}

/// The UTC day of an instant, as `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day(pub Timestamp);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.0.0).map_err(|_| fmt::Error)?;
        write!(f, "{}", instant.to_zoned(jiff::tz::TimeZone::UTC).date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_milliseconds_and_a_z() {
        assert_eq!(
            Instant(Timestamp(0)).to_string(),
            "1970-01-01T00:00:00.000Z"
        );
        assert_eq!(
            Instant(Timestamp(1_795_000_000_120)).to_string(),
            "2026-11-18T11:06:40.120Z"
        );
        assert_eq!(Day(Timestamp(1_795_000_000_120)).to_string(), "2026-11-18");
    }
}
