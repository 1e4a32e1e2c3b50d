//! How many entries of a list to return.

use utoipa::openapi::{ObjectBuilder, schema::Type};

use super::text::{FromText, Text};

const DEFAULT: usize = 25;
const MAX: usize = 100;

/// A [`Limit`] in a query, in digits.
pub type LimitText = Text<Limit>;

/// The most entries to return, 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub usize);

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl FromText for Limit {
    const NAME: &'static str = "Limit";
    const WANTED: &'static str = "a whole number from 1 to 100";

    fn from_text(text: &str) -> Option<Self> {
        // `parse` would take a sign.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits)?;
        (1..=MAX).contains(&number).then_some(Self(number))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(100))
            .default(Some(DEFAULT.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_whole_numbers_from_1_to_100() {
        assert_eq!(Limit::from_text("1"), Some(Limit(1)));
        assert_eq!(Limit::from_text("100"), Some(Limit(100)));
        for bad in [
            "0",
            "101",
            "-1",
            "1.0",
            "",
            "x",
            "1e1",
            "+5",
            "99999999999999999999999",
        ] {
            assert_eq!(Limit::from_text(bad), None, "{bad}");
        }
    }
}
