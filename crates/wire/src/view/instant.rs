//! Instants as they are written.

use std::fmt;

use api_types::Instant;
use domain::Timestamp;

/// An instant as it is written. One that is too far off to be written is the last that can be.
#[must_use]
pub fn instant(at: Timestamp) -> Instant {
    let near = jiff::Timestamp::from_millisecond(at.0);
    Instant(near.unwrap_or(jiff::Timestamp::MAX))
}

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
    fn an_instant_and_a_day_are_of_utc() {
        let at = Timestamp(1_795_000_000_120);
        assert_eq!(instant(at).to_string(), "2026-11-18T11:06:40.120Z");
        assert_eq!(Day(at).to_string(), "2026-11-18");
    }
}
