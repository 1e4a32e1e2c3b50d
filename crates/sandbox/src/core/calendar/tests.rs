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
