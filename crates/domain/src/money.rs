//! Amounts of money as people read and write them.

pub use crate::catalog::decimals;

/// An amount with its currency, as in `9.00 EUR`.
pub fn money(cents: i64, currency: &str) -> String {
    format!("{} {currency}", amount(cents, currency))
}

/// An amount without its currency, with commas between thousands.
pub fn amount(cents: i64, currency: &str) -> String {
    let plain = typed(cents, currency);
    let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
    let (sign, digits) = match whole.strip_prefix('−') {
        Some(digits) => ("−", digits),
        None => ("", whole),
    };
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{part}", by_thousands(digits))
}

/// An amount as a form or a terminal has it, without its currency: with no commas.
pub fn typed(cents: i64, currency: &str) -> String {
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
pub fn grouped(number: i64) -> String {
    let text = by_thousands(&number.unsigned_abs().to_string());
    if number < 0 {
        format!("−{text}")
    } else {
        text
    }
}

fn by_thousands(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with commas between thousands and its sign, plus included.
pub fn signed(number: i64) -> String {
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
        assert_eq!(money(706_800, "EUR"), "7,068.00 EUR");
        assert_eq!(money(-123_456_789, "USD"), "−1,234,567.89 USD");
        assert_eq!(money(1_234_567, "JPY"), "1,234,567 JPY");
        assert_eq!(typed(706_800, "EUR"), "7068.00");
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
