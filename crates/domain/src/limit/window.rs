//! The windows of limits: calendar periods where the limit's calendar is.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::{
    text,
    text::TextError,
    time::{Period, Span, Timestamp},
};

text!(/// The name of a time zone in the IANA database, such as `Europe/Berlin`.
    TimeZoneName, check_time_zone);

fn check_time_zone(name: &str) -> Result<(), TextError> {
    match TimeZone::get(name) {
        Ok(_) => Ok(()),
        Err(_) => Err(TextError(
            "A time zone is one of the IANA database, such as Europe/Berlin.",
        )),
    }
}

/// In which time a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitWindow {
    /// Each hour of the clock.
    Hour,
    /// Each day, from its first instant.
    Day,
    /// Each week, from Monday.
    Week,
    /// Each month of the calendar.
    Month,
    /// Each year of the calendar.
    Year,
    /// All of time.
    Lifetime,
}

impl LimitWindow {
    /// What an interface calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
            Self::Lifetime => "lifetime",
        }
    }

    /// The window of this kind that an instant is in. It is all of time only outside the calendar's range.
    pub(crate) fn span(self, at: Timestamp, zone: Option<&TimeZoneName>) -> Span {
        self.calendar(at, zone).unwrap_or(Span::ALWAYS)
    }

    fn calendar(self, at: Timestamp, zone: Option<&TimeZoneName>) -> Option<Span> {
        let zone = match zone {
            None => TimeZone::UTC,
            Some(name) => TimeZone::get(name.as_str()).ok()?,
        };
        match self {
            Self::Lifetime => None,
            Self::Hour => hour(at, zone),
            Self::Day => Period::Daily.span_in(&zone, at),
            Self::Week => Period::Weekly.span_in(&zone, at),
            Self::Month => Period::Monthly.span_in(&zone, at),
            Self::Year => Period::Yearly.span_in(&zone, at),
        }
    }
}

/// The hour of a zone's clock.
fn hour(at: Timestamp, zone: TimeZone) -> Option<Span> {
    let now = jiff::Timestamp::from_millisecond(at.0).ok()?;
    let now = now.to_zoned(zone);
    let minutes = i64::from(now.minute()).checked_mul(60)?;
    let into = minutes
        .checked_add(now.second().into())?
        .checked_mul(1000)?;
    let into = into.checked_add(now.millisecond().into())?;
    let start = Timestamp(at.0.checked_sub(into)?);
    let end = start.plus_seconds(3600);
    Some(Span { start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    fn span(window: LimitWindow, zone: &str, now: &str) -> (String, String) {
        let zone = TimeZoneName::new(zone).unwrap();
        let span = window.span(at(now), Some(&zone));
        let text = |at: Timestamp| jiff::Timestamp::from_millisecond(at.0).unwrap().to_string();
        assert!(span.contains(at(now)), "{now} is outside of its window");
        (text(span.start), text(span.end))
    }

    #[test]
    fn windows_follow_the_calendar_of_their_zone() {
        for (window, zone, now, start, end) in [
            // Clocks go back: the day has 25 hours, and the hour from two is there twice.
            (
                LimitWindow::Day,
                "Europe/Berlin",
                "2026-10-25T12:00:00Z",
                "2026-10-24T22:00:00Z",
                "2026-10-25T23:00:00Z",
            ),
            (
                LimitWindow::Hour,
                "Europe/Berlin",
                "2026-10-25T00:30:00Z",
                "2026-10-25T00:00:00Z",
                "2026-10-25T01:00:00Z",
            ),
            (
                LimitWindow::Hour,
                "Europe/Berlin",
                "2026-10-25T01:30:00Z",
                "2026-10-25T01:00:00Z",
                "2026-10-25T02:00:00Z",
            ),
            // Clocks skip midnight.
            (
                LimitWindow::Day,
                "America/Santiago",
                "2026-09-06T12:00:00Z",
                "2026-09-06T04:00:00Z",
                "2026-09-07T03:00:00Z",
            ),
            // A zone that skipped a whole day.
            (
                LimitWindow::Month,
                "Pacific/Apia",
                "2011-12-15T00:00:00Z",
                "2011-12-01T10:00:00Z",
                "2011-12-31T10:00:00Z",
            ),
            (
                LimitWindow::Hour,
                "Asia/Kolkata",
                "2026-01-01T00:10:00Z",
                "2025-12-31T23:30:00Z",
                "2026-01-01T00:30:00Z",
            ),
            (
                LimitWindow::Week,
                "UTC",
                "2026-11-29T23:59:59Z",
                "2026-11-23T00:00:00Z",
                "2026-11-30T00:00:00Z",
            ),
            (
                LimitWindow::Year,
                "Asia/Tokyo",
                "2026-12-31T15:00:00Z",
                "2026-12-31T15:00:00Z",
                "2027-12-31T15:00:00Z",
            ),
        ] {
            let expected = (start.to_owned(), end.to_owned());
            assert_eq!(span(window, zone, now), expected, "{window:?} in {zone}");
        }
        assert_eq!(
            LimitWindow::Lifetime.span(at("2026-01-01T00:00:00Z"), None),
            Span::ALWAYS
        );
        assert!(TimeZoneName::new("Europe/Atlantis").is_err());
    }
}
