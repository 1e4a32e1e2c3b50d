//! The bounds of an administrator's texts and numbers. Each refusal names the input at fault.

use std::collections::BTreeSet;

use super::Refusal;
use crate::{MAX_CREDITS, text::Feature};

/// The most characters of a name or a label.
pub(super) const MAX_NAME: usize = 200;
/// The most features of a price, so that any document fits one append of the log.
const MAX_FEATURES: usize = 100;
/// A purchase logs its terms several times, and all of that has to fit one append.
const MAX_FEATURES_BYTES: usize = 3000;

/// Refuses an input for which a rule does not hold.
pub(super) fn ensure(holds: bool, param: &str, message: impl Into<String>) -> Result<(), Refusal> {
    match holds {
        true => Ok(()),
        false => Err(Refusal::invalid(param, message)),
    }
}

/// Checks for 1 to `max` characters, not only spaces and no control characters.
pub(super) fn text(param: &str, text: &str, max: usize) -> Result<(), Refusal> {
    let fits = !text.trim().is_empty() && text.chars().count() <= max;
    if fits && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Refusal::invalid(
        param,
        format!("{param} has 1 to {max} characters and no control characters."),
    ))
}

pub(super) fn optional_text(param: &str, value: Option<&str>, max: usize) -> Result<(), Refusal> {
    value.map_or(Ok(()), |value| text(param, value, max))
}

pub(super) fn whole(param: &str, number: i64) -> Result<(), Refusal> {
    within(param, number, 0, MAX_CREDITS)
}

pub(super) fn within(param: &str, number: i64, minimum: i64, maximum: i64) -> Result<(), Refusal> {
    if (minimum..=maximum).contains(&number) {
        return Ok(());
    }
    Err(Refusal::invalid(
        param,
        format!("{param} is a whole number from {minimum} to {maximum}."),
    ))
}

/// Checks for `least` to `most`, and returns the number as a `u32`.
pub(super) fn bounded(
    param: &str,
    number: i64,
    minimum: i64,
    maximum: i64,
) -> Result<u32, Refusal> {
    within(param, number, minimum, maximum)?;
    u32::try_from(number).map_err(|_| Refusal::invalid(param, format!("{param} is too large.")))
}

/// Checks for three capitals, as in ISO 4217. Only the payment provider knows which currencies exist.
pub(super) fn currency(text: &str) -> Result<(), Refusal> {
    let fits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let message = "currency is an ISO 4217 code in capitals, such as EUR.";
    ensure(fits, "currency", message)
}

/// Parses feature slugs; a repeated one counts once.
pub(super) fn features(slugs: Vec<String>) -> Result<BTreeSet<Feature>, Refusal> {
    features_count(slugs.len())?;
    let read = slugs.into_iter().enumerate().map(|(at, slug)| {
        Feature::new(slug).map_err(|error| Refusal::invalid(format!("features[{at}]"), error.0))
    });
    read.collect()
}

fn features_count(count: usize) -> Result<(), Refusal> {
    let message = format!("A price unlocks at most {MAX_FEATURES} features.");
    ensure(count <= MAX_FEATURES, "features", message)
}

/// Checks that the features are few and short enough for an order to carry.
pub(super) fn features_size(features: &BTreeSet<Feature>) -> Result<(), Refusal> {
    features_count(features.len())?;
    let bytes = features.iter().map(|slug| slug.as_str().len());
    if bytes.sum::<usize>() <= MAX_FEATURES_BYTES {
        return Ok(());
    }
    let message =
        format!("The features of a price have at most {MAX_FEATURES_BYTES} characters in total.");
    Err(Refusal::invalid("features", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currencies_are_three_capitals() {
        assert!(currency("EUR").is_ok());
        for typed in ["eur", "EU", "EURO", "E1R", "€€€", ""] {
            assert!(currency(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn texts_have_bounds() {
        assert!(text("name", &"é".repeat(200), 200).is_ok());
        for typed in ["", "   ", "a\nb", "a\u{0}"] {
            assert!(text("name", typed, 200).is_err(), "{typed:?}");
        }
        assert!(text("name", &"x".repeat(201), 200).is_err());
    }

    #[test]
    fn a_bad_feature_is_named_by_its_place() {
        let slugs = vec!["export.pdf".to_owned(), "no spaces".to_owned()];
        let Err(Refusal::Invalid { param, .. }) = features(slugs) else {
            panic!("a slug has no spaces")
        };
        assert_eq!(param, "features[1]");
        let twice = features(vec!["a".to_owned(), "a".to_owned()]).unwrap();
        assert_eq!(twice.len(), 1);
        let many: Vec<String> = (0..=MAX_FEATURES).map(|n| format!("f{n}")).collect();
        assert!(features(many).is_err());
    }
}
