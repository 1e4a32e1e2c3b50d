//! When a cycle ends. Counted from where the subscription began, so that the 31st comes back after
//! a February. Never drifts by adding one end to the next.

use jiff::{Span, Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// How often a subscription is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Interval {
    Month,
    Year,
}

impl Interval {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Year => "year",
        }
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
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let Ok(time) = Timestamp::from_second(seconds) else {
        return "never".into();
    };
    let date = time.to_zoned(TimeZone::UTC).date();
    let month = usize::try_from(date.month()).unwrap_or(1).saturating_sub(1);
    let month = MONTHS.get(month).copied().unwrap_or_default();
    format!("{} {month} {}", date.day(), date.year())
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
