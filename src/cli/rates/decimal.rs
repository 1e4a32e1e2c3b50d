//! Exact decimal numbers, as price files and rate cards have them.

use std::str::FromStr;

/// The most digits after the point of a price.
const PLACES: i32 = 9;

/// A number that is not negative: some digits times a power of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Decimal {
    /// They do not end in zeros.
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn new(mut digits: u128, mut exponent: i32) -> Self {
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
            exponent = exponent.saturating_add(1);
        }
        let exponent = if digits == 0 { 0 } else { exponent };
        Self { digits, exponent }
    }

    pub(super) const fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The product; `None` if it has too many digits.
    pub(super) fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Self::new(
            digits,
            self.exponent.checked_add(other.exponent)?,
        ))
    }

    /// The number times a power of ten.
    pub(super) fn shifted(self, exponent: i32) -> Self {
        Self::new(self.digits, self.exponent.saturating_add(exponent))
    }

    /// The number in units of a power of ten, rounded up, and whether it was.
    fn in_units_of(self, exponent: i32) -> Option<(u128, bool)> {
        let shift = self.exponent.checked_sub(exponent)?;
        let power = 10_u128.checked_pow(shift.unsigned_abs());
        match (shift < 0, power) {
            (false, power) => Some((self.digits.checked_mul(power?)?, false)),
            (true, Some(power)) => {
                let is_exact = self.digits.is_multiple_of(power);
                Some((self.digits.div_ceil(power), !is_exact))
            }
            (true, None) => Some((u128::from(self.digits > 0), self.digits > 0)),
        }
    }

    /// A price with at most nine digits after the point, rounded up, and whether it was.
    pub(super) fn price(self) -> Option<(String, bool)> {
        let (price, is_rounded) = self.in_units_of(-PLACES)?;
        let one = 10_u128.pow(PLACES.unsigned_abs());
        let text = format!("{}.{:09}", price / one, price % one);
        let text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
        Some((text, is_rounded))
    }

    /// The number, if it is a whole one.
    pub(super) fn whole(self) -> Option<u64> {
        let (number, is_rounded) = self.in_units_of(0)?;
        u64::try_from(number).ok().filter(|_| !is_rounded)
    }
}

impl FromStr for Decimal {
    type Err = &'static str;

    /// Reads digits with an optional point and an optional exponent, such as `2.5e-06`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            let digits = format!("{whole}{fraction}");
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            let digits = digits.parse().ok().filter(|_| is_plain)?;
            let places = i32::try_from(fraction.len()).ok()?;
            let exponent = exponent.parse::<i32>().ok()?.checked_sub(places)?;
            Some(Self::new(digits, exponent))
        };
        read().ok_or("it is not a number such as 1.3, not negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_are_exact_and_rounded_up() {
        let price = |text| decimal(text).price().unwrap();
        assert_eq!(price("2.5e-06"), ("0.0000025".into(), false));
        assert_eq!(price("1300"), ("1300".into(), false));
        assert_eq!(price("1e3"), ("1000".into(), false));
        assert_eq!(price("0.0000000011"), ("0.000000002".into(), true));
        assert_eq!(price("1e-60"), ("0.000000001".into(), true));
        assert_eq!(price("0.0"), ("0".into(), false));
        let marked_up = decimal("2.5e-06").times(decimal("1.3")).unwrap();
        assert_eq!(marked_up.shifted(9).price(), Some(("3250".into(), false)));
        assert_eq!(decimal("256000.0").whole(), Some(256_000));
        assert_eq!(decimal("0.5").whole(), None);
        let nines = decimal(&"9".repeat(38));
        assert_eq!(nines.times(nines), None);
        for text in ["", "-1", "+1", "1,5", "NaN", "1e", "0x1", "1.2.3", "e5"] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
    }
}
