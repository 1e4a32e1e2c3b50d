//! When a cycle ends. Counted from where the subscription began, so that the 31st comes back after
//! a February. Never drifts by adding one end to the next.

use jiff::{Span, Timestamp, tz::TimeZone};

words! {
    /// How often a subscription is billed.
    Interval {
        Month "month",
        Year "year",
    }
}

/// `cycles` intervals after `anchor`, both in seconds. Past the calendar's end it is never.
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

/// For people: `31 January 2026`.
pub(crate) fn date(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds);
    time.map_or_else(
        |_| "never".into(),
        |time| time.strftime("%-d %B %Y").to_string(),
    )
}

#[cfg(test)]
mod tests;
