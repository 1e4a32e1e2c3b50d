//! Whole numbers of a query, in digits.

use std::{ops::RangeInclusive, str::FromStr};

use domain::MAX_CREDITS;
use utoipa::openapi::schema::Type;

use super::text::{Text, texts};

const DEFAULT_LIMIT: usize = 25;

/// An amount that lists are filtered by.
pub type CentsText = Text<Cents>;
/// How many entries of a list to return.
pub type LimitText = Text<Limit>;

/// An amount in the minor unit of its currency, at most 2^53 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cents(pub i64);

/// The most entries to return, 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub usize);

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

texts! {
    Cents = "Cents", "a whole number from 0 to 9007199254740991",
        |text| whole(text, 0..=MAX_CREDITS).map(Self),
        |string| string.schema_type(Type::Integer).minimum(Some(0)).maximum(Some(MAX_CREDITS));
    Limit = "Limit", "a whole number from 1 to 100",
        |text| whole(text, 1..=100).map(Self),
        |string| string
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(100))
            .default(Some(DEFAULT_LIMIT.into()));
}

fn whole<T: FromStr + PartialOrd>(text: &str, range: RangeInclusive<T>) -> Option<T> {
    // `parse` would take a sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits)?;
    range.contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText as _;

    #[test]
    fn amounts_are_whole_and_not_negative() {
        assert_eq!(Cents::from_text("0"), Some(Cents(0)));
        let most = Some(Cents(9_007_199_254_740_991));
        assert_eq!(Cents::from_text("9007199254740991"), most);
        for bad in ["", "-1", "+1", "1.0", "9007199254740992", "1e3"] {
            assert_eq!(Cents::from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn limits_are_whole_numbers_from_1_to_100() {
        assert_eq!(Limit::from_text("1"), Some(Limit(1)));
        assert_eq!(Limit::from_text("100"), Some(Limit(100)));
        let many = "99999999999999999999999";
        for bad in ["0", "101", "-1", "1.0", "", "x", "1e1", "+5", many] {
            assert_eq!(Limit::from_text(bad), None, "{bad}");
        }
    }
}
