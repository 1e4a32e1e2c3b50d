//! Numbers as people read them.

/// A number with commas between thousands, as in `1,234,567`.
pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0.0 {
        text.push('-');
    }
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Milliseconds, with decimals where there are few.
pub(crate) fn milliseconds(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { 0 };
    format!("{value:.decimals$} ms")
}

/// The median, which is the mean of the middle two for an even count; 0 without values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2).copied().unwrap_or(0.0);
    let lower = values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0.0);
    f64::midpoint(lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_in_threes() {
        assert_eq!(thousands(0.0), "0");
        assert_eq!(thousands(999.6), "1,000");
        assert_eq!(thousands(-1_234_567.0), "-1,234,567");
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median([]), 0.0);
    }
}
