//! Amounts that payment providers do not take are refused when a price is made, not when the first buyer wants to pay.
//! Source: Stripe, "Supported currencies" (minimum and maximum amounts, special cases). Stripe may change them, so
//! existing prices are not checked.

use super::Refusal;

/// The smallest amounts that Stripe documents, in minor units.
const MINIMUMS: [(&str, i64); 24] = [
    ("AED", 200),
    ("AUD", 50),
    ("BGN", 100),
    ("BRL", 50),
    ("CAD", 50),
    ("CHF", 50),
    ("CZK", 1500),
    ("DKK", 250),
    ("EUR", 50),
    ("GBP", 30),
    ("HKD", 400),
    ("HUF", 17_500),
    ("INR", 50),
    ("JPY", 50),
    ("MXN", 1000),
    ("MYR", 200),
    ("NOK", 300),
    ("NZD", 50),
    ("PLN", 200),
    ("RON", 200),
    ("SEK", 300),
    ("SGD", 50),
    ("THB", 1000),
    ("USD", 50),
];
/// The largest amounts that Stripe documents, in minor units, where they exceed eight digits.
const MAXIMUMS: [(&str, i64); 3] = [
    ("COP", 9_999_999_999),
    ("IDR", 999_999_999_999),
    ("INR", 999_999_999),
];
/// The maximum in every other currency: eight digits.
const MAXIMUM: i64 = 99_999_999;
/// Currencies without decimals whose amounts are written with two.
const WHOLE_UNITS: [&str; 2] = ["ISK", "UGX"];
/// Currencies without a minor unit.
const ZERO_DECIMALS: [&str; 15] = [
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF",
    "XOF", "XPF",
];
/// Currencies with three decimals; the last one has to be 0.
const THREE_DECIMALS: [&str; 5] = ["BHD", "JOD", "KWD", "OMR", "TND"];

/// The codes of ISO 4217 for money in circulation.
const CURRENCIES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP \
     BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF \
     GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD \
     LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR \
     PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY \
     TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG";

/// Decimal digits of a currency (ISO 4217, in capitals), as Stripe counts its minor unit.
pub fn decimals(currency: &str) -> usize {
    if ZERO_DECIMALS.contains(&currency) {
        0
    } else if THREE_DECIMALS.contains(&currency) {
        3
    } else {
        2
    }
}

/// The smallest chargeable amount above zero in a currency (ISO 4217, in capitals), in its minor unit, if Stripe
/// documents one.
pub fn minimum(currency: &str) -> Option<i64> {
    let mut minimums = MINIMUMS.iter();
    let (_, least) = minimums.find(|(code, _)| *code == currency)?;
    Some(*least)
}

/// The largest chargeable amount in a currency (ISO 4217, in capitals), in its minor unit.
pub(super) fn maximum(currency: &str) -> i64 {
    let larger = MAXIMUMS.iter().find(|(code, _)| *code == currency);
    larger.map_or(MAXIMUM, |(_, maximum)| *maximum)
}

/// Checks that the currency exists and an amount of it can be charged; 0 passes, because nothing is charged then.
pub(super) fn check(amount_cents: i64, currency: &str) -> Result<(), Refusal> {
    if !CURRENCIES.split(' ').any(|code| code == currency) {
        let message = format!("ISO 4217 has no currency {currency}.");
        return Err(Refusal::invalid("currency", message));
    }
    let refused = |message| Err(Refusal::invalid("amountCents", message));
    if amount_cents == 0 {
        return Ok(());
    }
    if let Some(least) = minimum(currency)
        && amount_cents < least
    {
        return refused(format!(
            "In {currency} amountCents is 0 or at least {least}: no payment provider takes less."
        ));
    }
    if amount_cents > maximum(currency) {
        return refused(format!(
            "In {currency} amountCents is at most {}: no payment provider takes more.",
            maximum(currency)
        ));
    }
    if WHOLE_UNITS.contains(&currency) && !ends_in_zeros(amount_cents, 100) {
        return refused(format!(
            "In {currency} amountCents is a multiple of 100: the currency has no fractions."
        ));
    }
    if THREE_DECIMALS.contains(&currency) && !ends_in_zeros(amount_cents, 10) {
        return refused(format!(
            "In {currency} amountCents ends in 0: providers take two of its three decimals."
        ));
    }
    Ok(())
}

const fn ends_in_zeros(amount_cents: i64, step: i64) -> bool {
    matches!(amount_cents.checked_rem(step), Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_the_currencys_minimum_is_refused_and_nothing_is_free() {
        for (currency, least) in MINIMUMS {
            assert!(check(least, currency).is_ok(), "{currency}");
            assert!(check(least - 1, currency).is_err(), "{currency}");
            assert!(check(1, currency).is_err(), "{currency}");
            assert!(check(0, currency).is_ok(), "{currency}");
        }
        assert!(check(1, "XPF").is_ok());
    }

    #[test]
    fn a_currency_that_does_not_exist_is_refused() {
        let Err(Refusal::Invalid { param, .. }) = check(0, "XXZ") else {
            panic!("XXZ was taken")
        };
        assert_eq!(param, "currency");
        let others = ZERO_DECIMALS
            .iter()
            .chain(&THREE_DECIMALS)
            .chain(&WHOLE_UNITS);
        for code in MINIMUMS.iter().map(|(code, _)| code).chain(others) {
            assert!(CURRENCIES.contains(code), "{code}");
        }
    }

    #[test]
    fn more_than_the_currencys_maximum_is_refused() {
        for (currency, maximum) in [
            ("EUR", 99_999_999),
            ("JPY", 99_999_999),
            ("INR", 999_999_999),
        ] {
            assert!(check(maximum, currency).is_ok(), "{currency}");
            assert!(check(maximum + 1, currency).is_err(), "{currency}");
        }
        assert!(check(999_999_999_999, "IDR").is_ok());
    }

    #[test]
    fn some_currencies_have_fewer_decimals_than_they_are_written_with() {
        for currency in WHOLE_UNITS {
            assert!(check(500, currency).is_ok());
            for amount in [1, 99, 510, 501] {
                assert!(check(amount, currency).is_err(), "{amount} {currency}");
            }
        }
        for currency in THREE_DECIMALS {
            assert!(check(5120, currency).is_ok());
            assert!(check(5124, currency).is_err(), "{currency}");
        }
        assert!(check(5124, "EUR").is_ok());
    }
}
