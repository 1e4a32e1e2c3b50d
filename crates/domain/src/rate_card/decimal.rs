//! Prices and costs below a whole credit, as integers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::amount::MAX_CREDITS;

/// 10^-18 credits in one credit.
const CREDIT: u128 = 1_000_000_000_000_000_000;
/// 10^-9 credits in one credit.
const PRICE_UNIT: u128 = 1_000_000_000;

/// A price of 0 to 2^53 - 1 credits with at most nine digits after the point, in 10^-9 credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnitPrice(u128);

impl UnitPrice {
    /// No credits at all.
    pub const ZERO: Self = Self(0);

    /// Reads plain digits with an optional point, such as `0.3`; `None` for anything else: a sign, an exponent, a
    /// leading zero, more digits.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str, most| {
            let is_plain = part.bytes().all(|byte| byte.is_ascii_digit());
            (is_plain && (1..=most).contains(&part.len())).then(|| part.parse::<u128>().ok())
        };
        let credits = digits(whole, 16)??;
        let is_padded = whole.len() > 1 && whole.starts_with('0');
        if is_padded || credits > u128::from(MAX_CREDITS.unsigned_abs()) {
            return None;
        }
        let places = u32::try_from(fraction.len()).ok()?;
        let fraction =
            digits(fraction, 9)??.checked_mul(10_u128.pow(9_u32.checked_sub(places)?))?;
        credits
            .checked_mul(PRICE_UNIT)?
            .checked_add(fraction)
            .map(Self)
    }

    /// The price times a number, in 10^-9 credits.
    pub(super) fn times(self, number: u64) -> Option<u128> {
        self.0.checked_mul(number.into())
    }

    /// What so many units cost where the price is that of 10^`per` units, `per` up to 9. `None`: more than any amount.
    pub(super) fn of(self, quantity: u64, per: u32) -> Option<Cost> {
        let scale = 10_u128.pow(9_u32.checked_sub(per)?);
        let cost = self.0.checked_mul(quantity.into())?.checked_mul(scale)?;
        Cost(cost).bounded()
    }
}

/// An exact cost of 0 to 2^53 - 1 credits, in 10^-18 credits.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Cost(u128);

impl Cost {
    /// The cost of whole credits; of none if the number is negative.
    pub fn of_credits(credits: i64) -> Self {
        let credits = u128::try_from(credits).unwrap_or(0);
        Self(credits.saturating_mul(CREDIT))
    }

    fn bounded(self) -> Option<Self> {
        (self <= Self::of_credits(MAX_CREDITS)).then_some(self)
    }

    /// Both costs together. `None`: more than any amount.
    pub fn plus(self, other: Self) -> Option<Self> {
        Self(self.0.checked_add(other.0)?).bounded()
    }

    /// Both costs together, at most the largest number.
    pub(crate) const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The fewest whole credits that cover it.
    pub fn rounded_up(self) -> i64 {
        i64::try_from(self.0.div_ceil(CREDIT)).unwrap_or(MAX_CREDITS)
    }
}

impl fmt::Display for Cost {
    /// Digits without superfluous zeros, such as `0.0003`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, CREDIT, 18)
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0.into(), CREDIT, 18)
    }
}

impl fmt::Display for UnitPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, PRICE_UNIT, 9)
    }
}

fn decimal(f: &mut fmt::Formatter<'_>, value: u128, one: u128, places: usize) -> fmt::Result {
    let (whole, fraction) = (value.div_euclid(one), value.rem_euclid(one));
    if fraction == 0 {
        return write!(f, "{whole}");
    }
    let fraction = format!("{fraction:0places$}");
    write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
}

/// What an account used below a whole credit and was not charged yet: 0 to 1 credit, without the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Carried(u64);

impl Carried {
    /// Nothing is carried.
    pub const ZERO: Self = Self(0);

    /// Whether nothing is carried.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Charges whole credits for a cost, less what was charged for before; what is left is carried on. Fewer than zero
    /// credits are given back.
    pub fn charge(self, cost: Cost, before: Cost) -> (i64, Self) {
        // Bounded costs are far below 2^127.
        let signed = |cost: Cost| i128::try_from(cost.0).unwrap_or(i128::MAX);
        let total = i128::from(self.0)
            .saturating_add(signed(cost))
            .saturating_sub(signed(before));
        let credit = CREDIT.cast_signed();
        let credits = i64::try_from(total.div_euclid(credit)).unwrap_or(MAX_CREDITS);
        let left = u64::try_from(total.rem_euclid(credit)).unwrap_or(0);
        (credits, Self(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_plain_decimals() {
        for text in [
            "0",
            "0.3",
            "3.75",
            "9007199254740991",
            "0.000000001",
            "10.5",
        ] {
            assert_eq!(UnitPrice::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(UnitPrice::parse("3.0").unwrap().to_string(), "3");
        let thirty = "1".repeat(30);
        let refused = [
            "",
            ".",
            "1.",
            ".5",
            "-0",
            "-1",
            "+1",
            "1e3",
            "1,5",
            "NaN",
            "Infinity",
            " 1",
            "1 ",
            "1_0",
            "01",
            "9007199254740992",
            "0.0000000001",
            "0x1",
            "١",
            "1.2.3",
            thirty.as_str(),
        ];
        for text in refused {
            assert_eq!(UnitPrice::parse(text), None, "{text}");
        }
    }

    #[test]
    fn costs_are_exact_or_refused() {
        let price = |text| UnitPrice::parse(text).unwrap();
        assert_eq!(price("0.3").of(1, 6).unwrap().to_string(), "0.0000003");
        assert_eq!(
            price("0.000000001").of(1, 9).unwrap().to_string(),
            "0.000000000000000001"
        );
        let most = 9_007_199_254_740_991;
        assert_eq!(
            price("1").of(most, 0).unwrap().to_string(),
            "9007199254740991"
        );
        assert_eq!(price("1000000000").of(most, 0), None);
        assert_eq!(price("9007199254740991").of(most, 9), None);
        assert_eq!(
            price("1")
                .of(most, 0)
                .unwrap()
                .plus(price("1").of(1, 9).unwrap()),
            None
        );
        assert_eq!(price("0.3").of(10, 1).unwrap().rounded_up(), 1);
        assert_eq!(Cost::default().rounded_up(), 0);
    }

    #[test]
    fn what_is_carried_stays_below_a_credit() {
        let third = UnitPrice::parse("0.333333333").unwrap().of(1, 0).unwrap();
        let (mut carried, mut charged) = (Carried::default(), 0);
        for _ in 0..4 {
            let (credits, left) = carried.charge(third, Cost::default());
            (carried, charged) = (left, charged + credits);
        }
        assert_eq!(charged, 1);
        // A settlement below what was drawn gives back.
        assert_eq!(carried.charge(third, Cost::of_credits(2)).0, -2);
    }
}
