//! The UTC calendar, counted day by day from 1970: slow, and written without the calendar library that the rules use.

use crate::time::Period;

const DAY: i64 = 86_400_000;

/// The first instant of the period that `now` falls in, and the first one after it.
pub(super) fn span(period: Period, now: i64) -> (i64, i64) {
    let today = now.div_euclid(DAY);
    let (first, length) = match period {
        Period::Once => return (i64::MIN, i64::MAX),
        Period::Daily => (today, 1),
        // 1 January 1970 was a Thursday.
        Period::Weekly => (today - (today + 3).rem_euclid(7), 7),
        Period::Monthly => walk(today, days),
        Period::Yearly => walk_years(today),
    };
    (first * DAY, (first + length) * DAY)
}

fn walk(today: i64, length: impl Fn(i64, i64) -> i64) -> (i64, i64) {
    let (mut first, mut year, mut month) = (0, 1970, 1);
    while first + length(year, month) <= today {
        first += length(year, month);
        (year, month) = if month == 12 {
            (year + 1, 1)
        } else {
            (year, month + 1)
        };
    }
    (first, length(year, month))
}

fn walk_years(today: i64) -> (i64, i64) {
    let year_of = |year| (1..=12).map(|month| days(year, month)).sum::<i64>();
    let (mut first, mut year) = (0, 1970);
    while first + year_of(year) <= today {
        first += year_of(year);
        year += 1;
    }
    (first, year_of(year))
}

fn days(year: i64, month: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
