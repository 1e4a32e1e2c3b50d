use super::*;

#[test]
fn amounts_are_written_as_their_currency_counts() {
    for (amount, currency, text) in [
        (500, "usd", "$5.00"),
        (500, "jpy", "¥500"),
        (1_234_567, "eur", "€12,345.67"),
        (123_456, "sek", "1,234.56 SEK"),
        (5, "kwd", "0.005 KWD"),
        (0, "gbp", "£0.00"),
        (-750, "usd", "−$7.50"),
        (100_000, "krw", "₩100,000"),
    ] {
        assert_eq!(written(amount, currency), text);
    }
}

#[test]
fn amounts_are_read_as_they_are_typed() {
    for (text, currency, amount) in [
        ("4.5", "usd", Some(450)),
        (" 4 ", "usd", Some(400)),
        ("4.505", "usd", None),
        ("500", "jpy", Some(500)),
        ("5.1", "jpy", None),
        ("-1", "usd", None),
        ("", "usd", None),
        ("99999999999999999999", "usd", None),
    ] {
        assert_eq!(typed(text, currency), amount, "{text}");
    }
}

#[test]
fn shares_round_half_up() {
    assert_eq!(share(999, 2000, 10_000), 200);
    assert_eq!(share(25, 1, 2), 13);
    assert_eq!(share(100, 10_000, 10_000), 100);
}

#[test]
fn currencies_are_stripes() {
    assert_eq!(currency("EUR", "c").unwrap(), "eur");
    assert!(currency("xyz", "c").is_err());
    assert!(currency("", "c").is_err());
}
