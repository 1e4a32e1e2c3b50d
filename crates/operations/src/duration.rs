//! Lengths of time in words.

/// A length of time in its two largest units, such as `1 day 2 hours`.
pub fn duration(seconds: i64) -> String {
    let units = [
        (86_400, "day"),
        (3600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let (mut rest, mut parts) = (seconds.max(0), Vec::new());
    for (length, name) in units {
        let count = rest.div_euclid(length);
        rest = rest.rem_euclid(length);
        match count {
            0 => {}
            1 => parts.push(format!("1 {name}")),
            _ => parts.push(format!("{count} {name}s")),
        }
    }
    parts.truncate(2);
    match parts.is_empty() {
        true => "0 seconds".into(),
        false => parts.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn a_length_of_time_has_two_units_at_most() {
        let all = [0, 59, 61, 3_700, 86_400, 200_000].map(duration);
        let words = [
            "0 seconds",
            "59 seconds",
            "1 minute 1 second",
            "1 hour 1 minute",
            "1 day",
            "2 days 7 hours",
        ];
        assert_eq!(all, words);
    }
}
