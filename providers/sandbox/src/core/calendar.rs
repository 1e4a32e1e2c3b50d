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
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_second()
    }

    #[test]
    fn the_last_of_january_comes_back_in_march() {
        let anchor = at("2026-01-31T10:00:00Z");
        for (cycles, end) in [
            (1, "2026-02-28"),
            (2, "2026-03-31"),
            (3, "2026-04-30"),
            (13, "2027-02-28"),
        ] {
            let expected = at(&format!("{end}T10:00:00Z"));
            assert_eq!(after(anchor, Interval::Month, cycles), expected);
        }
        let leap = at("2024-02-29T00:00:00Z");
        assert_eq!(after(leap, Interval::Year, 1), at("2025-02-28T00:00:00Z"));
        assert_eq!(after(leap, Interval::Year, 4), at("2028-02-29T00:00:00Z"));
        assert_eq!(after(i64::MAX, Interval::Year, 1), i64::MAX);
        assert_eq!(date(anchor), "31 January 2026");
    }
}
