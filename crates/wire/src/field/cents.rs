//! An amount of money in a query.

use utoipa::openapi::{ObjectBuilder, schema::Type};

use super::text::{FromText, Text};

/// An amount that lists are filtered by, in digits.
pub type CentsText = Text<Cents>;

/// An amount in the minor unit of its currency, at most 2^53 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cents(pub i64);

const MAX: i64 = (1 << 53) - 1;

impl FromText for Cents {
    const NAME: &'static str = "Cents";
    const WANTED: &'static str = "a whole number from 0 to 9007199254740991";

    fn from_text(text: &str) -> Option<Self> {
        // `parse` would take a sign.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits)?;
        (0..=MAX).contains(&number).then_some(Self(number))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .maximum(Some(MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_whole_and_not_negative() {
        assert_eq!(Cents::from_text("0"), Some(Cents(0)));
        assert_eq!(Cents::from_text("9007199254740991"), Some(Cents(MAX)));
        for bad in ["", "-1", "+1", "1.0", "9007199254740992", "1e3"] {
            assert_eq!(Cents::from_text(bad), None, "{bad}");
        }
    }
}
