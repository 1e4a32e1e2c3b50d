//! Instants and the UTC calendar periods of free grants. Time is always passed in.

use jiff::{civil, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// An instant: milliseconds since the Unix epoch, UTC.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Timestamp(pub i64);

/// The seconds of a day.
pub const DAY_SECONDS: i64 = 24 * 3600;

impl Timestamp {
    /// Later than any other instant.
    pub const NEVER: Self = Self(i64::MAX);

    /// This many seconds later.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }
}

/// How often a free grant is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// Once in a wallet's life; never expires.
    Once,
    /// Each UTC day.
    Daily,
    /// Each ISO week, from Monday 00:00 UTC.
    Weekly,
    /// Each calendar month.
    Monthly,
    /// Each calendar year.
    Yearly,
}

/// One period: from `start` up to but not including `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The period's first instant.
    pub start: Timestamp,
    /// The first instant after it; [`Timestamp::NEVER`] for [`Period::Once`].
    pub end: Timestamp,
}

impl Span {
    /// All of time.
    pub const ALWAYS: Self = Self {
        start: Timestamp(i64::MIN),
        end: Timestamp::NEVER,
    };

    /// Whether an instant is in it.
    pub fn contains(self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }
}

impl Period {
    /// The period that `now` falls in; `None` only outside the calendar's range (years past 9999).
    pub fn span(self, now: Timestamp) -> Option<Span> {
        self.span_in(&TimeZone::UTC, now)
    }

    /// The same by the calendar of a time zone.
    pub(crate) fn span_in(self, zone: &TimeZone, now: Timestamp) -> Option<Span> {
        if self == Self::Once {
            return Some(Span::ALWAYS);
        }
        let today = jiff::Timestamp::from_millisecond(now.0)
            .ok()?
            .to_zoned(zone.clone())
            .date();
        let (start, end) = match self {
            Self::Once | Self::Daily => (today, today.tomorrow().ok()?),
            Self::Weekly => {
                let since = i64::from(today.weekday().to_monday_zero_offset());
                let monday = today.checked_sub(jiff::Span::new().days(since)).ok()?;
                (monday, monday.checked_add(jiff::Span::new().days(7)).ok()?)
            }
            Self::Monthly => {
                let first = today.first_of_month();
                (first, first.checked_add(jiff::Span::new().months(1)).ok()?)
            }
            Self::Yearly => {
                let first = today.first_of_year();
                (first, first.checked_add(jiff::Span::new().years(1)).ok()?)
            }
        };
        Some(Span {
            start: first_instant(start, zone)?,
            end: first_instant(end, zone)?,
        })
    }
}

/// The first instant of a day: midnight, or what comes after it where clocks skip that.
fn first_instant(day: civil::Date, zone: &TimeZone) -> Option<Timestamp> {
    let zoned = day.to_zoned(zone.clone()).ok()?;
    Some(Timestamp(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn periods_follow_the_utc_calendar() {
        let cases = [
            (
                Period::Daily,
                "2024-02-29T23:59:59.999Z",
                "2024-02-29T00:00Z",
                "2024-03-01T00:00Z",
            ),
            (
                Period::Weekly,
                "2026-11-22T12:00:00Z",
                "2026-11-16T00:00Z",
                "2026-11-23T00:00Z",
            ),
            (
                Period::Weekly,
                "2026-11-23T00:00:00Z",
                "2026-11-23T00:00Z",
                "2026-11-30T00:00Z",
            ),
            (
                Period::Monthly,
                "2026-12-31T23:00:00Z",
                "2026-12-01T00:00Z",
                "2027-01-01T00:00Z",
            ),
            (
                Period::Yearly,
                "2026-01-01T00:00:00Z",
                "2026-01-01T00:00Z",
                "2027-01-01T00:00Z",
            ),
        ];
        for (period, now, start, end) in cases {
            let start = at(&start.replace('Z', ":00Z"));
            let end = at(&end.replace('Z', ":00Z"));
            assert_eq!(
                period.span(at(now)),
                Some(Span { start, end }),
                "{period:?} at {now}"
            );
        }
    }

    #[test]
    fn once_never_ends() {
        assert_eq!(
            Period::Once.span(Timestamp(0)).unwrap().end,
            Timestamp::NEVER
        );
    }
}
