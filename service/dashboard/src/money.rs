//! Amounts of money as people read and write them.

pub(super) use domain::catalog::decimals;

/// An amount with its currency, as in `9.00 EUR`.
pub fn money(cents: i64, currency: &str) -> String {
    format!("{} {currency}", amount(cents, currency))
}

/// An amount without its currency.
pub(super) fn amount(cents: i64, currency: &str) -> String {
    let places = decimals(currency);
    let sign = if cents < 0 { "−" } else { "" };
    let digits = format!(
        "{:0>width$}",
        cents.unsigned_abs(),
        width = places.saturating_add(1)
    );
    match digits.split_at_checked(digits.len().saturating_sub(places)) {
        Some((whole, part)) if !part.is_empty() => format!("{sign}{whole}.{part}"),
        _ => format!("{sign}{digits}"),
    }
}

/// A number with commas between thousands.
pub(super) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 {
        format!("−{text}")
    } else {
        text
    }
}

/// A number with commas between thousands and its sign, plus included.
pub(super) fn signed(number: i64) -> String {
    let plus = if number > 0 { "+" } else { "" };
    format!("{plus}{}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_currencys_digits() {
        assert_eq!(money(900, "EUR"), "9.00 EUR");
        assert_eq!(money(5, "EUR"), "0.05 EUR");
        assert_eq!(money(-1234, "USD"), "−12.34 USD");
        assert_eq!(money(500, "JPY"), "500 JPY");
        assert_eq!(money(1250, "KWD"), "1.250 KWD");
        assert_eq!(money(0, "EUR"), "0.00 EUR");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let all = [0, 12, 999, 1000, 123_456, 1_234_567, -1000].map(grouped);
        assert_eq!(
            all,
            ["0", "12", "999", "1,000", "123,456", "1,234,567", "−1,000"]
        );
        assert_eq!(signed(5), "+5");
        assert_eq!(signed(-5), "−5");
    }
}
