//! Amounts in the currency's minor unit as Stripe counts it, discounts, and formats for display. Never uses floating
//! point.

use crate::core::prelude::*;

/// Stripe's limit: eight digits.
pub(crate) const MAX_AMOUNT: i64 = 99_999_999;

const TWO_DECIMAL: &str = "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl \
    bsd bwp byn bzd cad cdf chf cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd \
    gtq gyd hkd hnl htg huf idr ils inr isk jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd \
    mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd \
    rub sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah ugx usd uyu uzs \
    wst xcd xcg yer zar zmw";

fn code(currency: &str) -> String {
    currency.to_ascii_uppercase()
}

fn decimals(currency: &str) -> usize {
    domain::catalog::decimals(&code(currency))
}

/// The currency in lower case, if Stripe knows it.
pub(crate) fn currency(text: &str, param: &str) -> Result<String> {
    let lower = text.to_ascii_lowercase();
    let mut two_decimal = TWO_DECIMAL.split_ascii_whitespace();
    if decimals(&lower) != 2 || two_decimal.any(|currency| currency == lower) {
        return Ok(lower);
    }
    Err(Refusal::param(param, format!("Invalid currency: {text}.")))
}

/// Refuses an amount below zero or above Stripe's bound.
pub(crate) fn amount(amount: i64, param: &str) -> Result<i64> {
    let message = "This value must be greater than or equal to 0.";
    Refusal::param(param, message)
        .with_code("parameter_invalid_integer")
        .when(amount < 0)?;
    let message = format!("This value must be no more than {MAX_AMOUNT}.");
    Refusal::param(param, message)
        .with_code("amount_too_large")
        .when(amount > MAX_AMOUNT)?;
    Ok(amount)
}

/// Refuses a total that is neither zero nor at least the currency's minimum.
pub(crate) fn chargeable(amount: i64, currency: &str) -> Result<()> {
    let least = domain::catalog::minimum(&code(currency)).unwrap_or(0);
    if amount == 0 || amount >= least {
        return Ok(());
    }
    let message = format!(
        "The Checkout Session's total amount due must add up to at least {} {currency}",
        written(least, currency)
    );
    Err(Refusal::invalid(message).with_code("amount_too_small"))
}

/// Refuses amounts finer than Stripe's step for a currency, which may exceed the minor unit.
pub(crate) fn whole_units(amount: i64, currency: &str, param: &str) -> Result<()> {
    let step = if decimals(currency) == 3 {
        10
    } else if matches!(currency, "isk" | "ugx") {
        100
    } else {
        1
    };
    let over = amount.checked_rem(step).unwrap_or(0);
    if over == 0 {
        return Ok(());
    }
    let message = format!(
        "Invalid amount: amounts in {currency} must be evenly divisible by {step}, such as {}.",
        amount.saturating_sub(over)
    );
    Err(Refusal::param(param, message).with_code("parameter_invalid_integer"))
}

/// `part` of `whole` parts of an amount, rounded half up.
pub(crate) fn share(amount: i64, part: i64, whole: i64) -> i64 {
    let whole = i128::from(whole.max(1));
    let doubled = i128::from(amount)
        .saturating_mul(i128::from(part))
        .saturating_mul(2);
    let rounded = doubled
        .saturating_add(whole)
        .div_euclid(whole.saturating_mul(2));
    i64::try_from(rounded).unwrap_or(i64::MAX)
}

/// An amount for display: `$5.00`, `¥500`, `1,234.50 SEK`.
pub(crate) fn written(amount: i64, currency: &str) -> String {
    let places = decimals(currency);
    let sign = if amount < 0 { "−" } else { "" };
    let width = places.saturating_add(1);
    let digits = format!("{:0width$}", amount.unsigned_abs());
    let (whole, part) = digits.split_at(digits.len().saturating_sub(places));
    let mut number = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && whole.len().saturating_sub(position).is_multiple_of(3) {
            number.push(',');
        }
        number.push(digit);
    }
    if places > 0 {
        number.push('.');
        number.push_str(part);
    }
    match currency {
        "usd" => format!("{sign}${number}"),
        "eur" => format!("{sign}€{number}"),
        "gbp" => format!("{sign}£{number}"),
        "jpy" => format!("{sign}¥{number}"),
        "krw" => format!("{sign}₩{number}"),
        "inr" => format!("{sign}₹{number}"),
        "cad" => format!("{sign}CA${number}"),
        "aud" => format!("{sign}A${number}"),
        other => format!("{sign}{number} {}", code(other)),
    }
}

/// A typed amount, for example `4.50`, in the minor unit.
pub(crate) fn typed(text: &str, currency: &str) -> Option<i64> {
    decimal(text.trim(), decimals(currency))
}

/// A number with at most `places` decimals, in units of the last: `4.5` with two is 450.
pub(crate) fn decimal(text: &str, places: usize) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if part.len() > places || whole.is_empty() || !all_digits(whole) || !all_digits(part) {
        return None;
    }
    format!("{whole}{part:0<places$}").parse().ok()
}

#[cfg(test)]
mod tests;
