//! An instant that a caller sends.

use domain::Timestamp;
use utoipa::openapi::ObjectBuilder;

use super::text::{FromText, Text};

/// An instant as callers send it.
pub type InstantText = Text<Timestamp>;

impl FromText for Timestamp {
    const NAME: &'static str = "Instant";
    const WANTED: &'static str =
        "an ISO 8601 instant with its offset from UTC, before 9999-12-30T22:00:00Z";

    fn from_text(text: &str) -> Option<Self> {
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(Self(instant.as_millisecond()))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        api_types::Instant::describe(string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_has_its_offset() {
        let read = |text| Timestamp::from_text(text).map(|at| at.0);
        assert_eq!(read("1970-01-01T00:00:01.001Z"), Some(1001));
        assert_eq!(read("1970-01-01T02:00:02+02:00"), Some(2000));
        for bad in ["", "2030-01-01", "2030-01-01T00:00:00", "1893456000"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
