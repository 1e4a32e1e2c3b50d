//! A card on file, and why a bank declines a payment by one. The card's number is the provider's alone.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    text::{CardId, CustomerId, TextError},
    time::Timestamp,
};

crate::text!(/// The network of a card as the provider spells it, such as `visa`: 1 to 64 visible ASCII characters.
    CardBrand, check_word);
crate::text!(/// The last four digits of a card's number.
    CardDigits, check_digits);
crate::text!(/// The provider's word for a decline, such as `insufficient_funds`: 1 to 64 visible ASCII characters.
    DeclineCode, check_word);

fn check_word(text: &str) -> Result<(), TextError> {
    let fits = (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(()).ok_or(TextError(
        "A provider's word has 1 to 64 visible ASCII characters.",
    ))
}

fn check_digits(text: &str) -> Result<(), TextError> {
    let fits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then_some(())
        .ok_or(TextError("A card is shown by its last four digits."))
}

/// A card that the provider keeps and that may be charged without its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCard {
    /// The provider's customer whose card it is.
    pub customer: CustomerId,
    /// The provider's name for the card.
    pub id: CardId,
    /// The network that it belongs to.
    pub brand: CardBrand,
    /// The end of its number.
    pub last4: CardDigits,
    /// The last month in which it is valid, 1 to 12.
    pub exp_month: u8,
    /// The year of that month, such as 2031.
    pub exp_year: u16,
    /// When its owner entered it.
    pub saved_at: Timestamp,
}

/// The bank's answer to a payment that it did not make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decline {
    /// The provider's word for it.
    pub code: DeclineCode,
    /// What may be done about it.
    pub kind: DeclineKind,
}

/// What may be done about a decline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclineKind {
    /// A later attempt may succeed.
    Retryable,
    /// This card will not pay: card networks forbid to try it again.
    Final,
    /// The bank asks for the card's owner.
    ActionRequired,
}

/// The codes of failures that no bank is the reason for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OwnCode {
    PriceChanged,
    NeverCharged,
    Canceled,
}

impl DeclineCode {
    pub(crate) fn of(code: OwnCode) -> Self {
        Self(Box::from(match code {
            OwnCode::PriceChanged => "price_changed",
            OwnCode::NeverCharged => "never_charged",
            OwnCode::Canceled => "canceled",
        }))
    }

    pub(crate) fn is(&self, code: OwnCode) -> bool {
        *self == Self::of(code)
    }

    /// The word for a decline that the provider does not name.
    #[must_use]
    pub fn unnamed() -> Self {
        Self("declined".into())
    }
}

impl fmt::Display for DeclineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_shows_four_digits_and_never_its_number() {
        assert!(CardDigits::new("0042").is_ok());
        for bad in ["", "42", "42424", "4242424242424242", "42a2", "४२४२"] {
            assert!(CardDigits::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_word_of_the_provider_is_short_and_visible() {
        assert!(DeclineCode::new("insufficient_funds").is_ok());
        for bad in ["", "two words", "é", &"x".repeat(65)] {
            assert!(DeclineCode::new(bad).is_err(), "{bad}");
        }
    }
}
