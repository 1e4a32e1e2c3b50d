//! Names, descriptions and other short texts that an administrator sends.

use utoipa::openapi::ObjectBuilder;

use super::text::{FromText, Text};

/// A text of at most `MAX` characters: not only space, no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleLine<const MAX: usize>(pub String);

/// A name or a label.
pub type NameText = Text<SingleLine<200>>;
/// A sentence or two.
pub type DescriptionText = Text<SingleLine<2000>>;
/// Why something was done.
pub type NoteText = Text<SingleLine<500>>;
/// What credits are called.
pub type UnitText = Text<SingleLine<100>>;
/// What an operator looks a wallet up by. The longest is a mail address, of at most 320 characters.
pub type SearchText = Text<SingleLine<320>>;

/// The address of an identity provider.
pub type IssuerText = Text<SingleLine<512>>;
/// What an identity provider calls a user.
pub type SubjectText = Text<SingleLine<255>>;

/// No control characters, and at least one character that is not Unicode white space.
const PATTERN: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\u0000-\u001f\u007f-\u009f]*$";

macro_rules! line {
    ($max:literal, $name:literal) => {
        impl FromText for SingleLine<$max> {
            const NAME: &'static str = $name;
            const WANTED: &'static str = concat!(
                "a text of 1 to ",
                $max,
                " characters, not only space and without control characters"
            );

            fn from_text(text: &str) -> Option<Self> {
                let fits = !text.trim().is_empty() && text.chars().count() <= $max;
                let fits = fits && !text.chars().any(char::is_control);
                fits.then(|| Self(text.to_owned()))
            }

            fn bounds(string: ObjectBuilder) -> ObjectBuilder {
                string
                    .min_length(Some(1))
                    .max_length(Some($max))
                    .pattern(Some(PATTERN))
            }
        }
    };
}

line!(200, "Name");
line!(2000, "Description");
line!(100, "CreditUnit");
line!(320, "Search");
line!(500, "Note");
line!(512, "Issuer");
line!(255, "Subject");

/// The text itself.
pub fn line<const MAX: usize>(Text(SingleLine(line)): Text<SingleLine<MAX>>) -> String {
    line
}

/// An ISO 4217 currency code. Whether there is such a currency is for the payment provider to say.
#[derive(Debug, Clone)]
pub struct Currency(pub String);

/// A currency code as callers send it.
pub type CurrencyText = Text<Currency>;

impl FromText for Currency {
    const NAME: &'static str = "Currency";
    const WANTED: &'static str = "an ISO 4217 code in capitals, such as EUR";

    fn from_text(text: &str) -> Option<Self> {
        let fits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
        fits.then(|| Self(text.to_owned()))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string.pattern(Some("^[A-Z]{3}$")).examples(["EUR"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_something_on_it() {
        assert!(SingleLine::<200>::from_text(&"é".repeat(200)).is_some());
        for bad in ["", "  ", "\u{3000}", "a\nb", "a\u{85}", &"x".repeat(201)] {
            assert_eq!(SingleLine::<200>::from_text(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn currencies_are_three_capitals() {
        assert!(Currency::from_text("EUR").is_some());
        for bad in ["eur", "EU", "EURO", "E1R", "€€€", ""] {
            assert!(Currency::from_text(bad).is_none(), "{bad}");
        }
    }
}
