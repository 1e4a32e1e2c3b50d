//! Ends of cycles, counted from the subscription's start, so that the 31st returns after a February instead of
//! drifting.

use jiff::{Span, Timestamp, tz::TimeZone};

words! {
    Interval { Month, Year }
}

/// The instant `cycles` intervals after `anchor`, in seconds; past the calendar's end, never.
pub(crate) fn after(anchor: i64, interval: Interval, cycles: i64) -> i64 {
    let later = || {
        let span = match interval {
            Interval::Month => Span::new().try_months(cycles),
            Interval::Year => Span::new().try_years(cycles),
        };
        let from = Timestamp::from_second(anchor).ok()?.to_zoned(TimeZone::UTC);
        Some(from.checked_add(span.ok()?).ok()?.timestamp().as_second())
    };
    later().unwrap_or(i64::MAX)
}

/// A date for display: `31 January 2026`.
pub(crate) fn date(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds);
    time.map_or_else(
        |_| "never".into(),
        |time| time.strftime("%-d %B %Y").to_string(),
    )
}

#[cfg(test)]
mod tests;
