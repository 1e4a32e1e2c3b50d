//! A dispute: a buyer's bank asks for an order's money back, or asks about it. Its amount is in the order's
//! [`Reversal`](super::Reversal); this is what an operator needs to know.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::time::Timestamp;

/// The reasons that banks give. Source: Stripe, `Dispute.reason`.
const REASONS: [&str; 17] = [
    "bank_cannot_process",
    "check_returned",
    "credit_not_processed",
    "customer_initiated",
    "debit_not_authorized",
    "duplicate",
    "fraudulent",
    "general",
    "incorrect_account_details",
    "insufficient_funds",
    "noncompliant",
    "product_not_received",
    "product_unacceptable",
    "subscription_canceled",
    "unrecognized",
    "internal",
    "other",
];
const OTHER: u8 = 16;

/// The present state of a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispute {
    /// When it was opened, which distinguishes it from others of the same payment.
    pub opened_at: Timestamp,
    /// The amount asked back, in the minor unit of `currency`.
    pub amount_cents: i64,
    /// The dispute's own currency, usually the payment's.
    pub currency: Currency,
    /// The reason that the bank gives.
    pub reason: DisputeReason,
    /// Until when the seller can respond; `None` if no response is awaited.
    pub respond_by: Option<Timestamp>,
    /// Whether it is only an inquiry, which takes no money.
    pub inquiry: bool,
    /// Whether the seller won; `None` while it is open.
    pub won: Option<bool>,
}

/// A currency: ISO 4217, in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "[u8; 3]")]
pub struct Currency([u8; 3]);

impl Currency {
    /// Upper or lower case; `None` if it is not three letters.
    pub fn new(text: &str) -> Option<Self> {
        let letters: [u8; 3] = text.to_ascii_uppercase().as_bytes().try_into().ok()?;
        Self::try_from(letters).ok()
    }
}

impl TryFrom<[u8; 3]> for Currency {
    type Error = &'static str;

    fn try_from(letters: [u8; 3]) -> Result<Self, Self::Error> {
        let fits = letters.iter().all(u8::is_ascii_uppercase);
        fits.then_some(Self(letters))
            .ok_or("a currency is three capital letters")
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|&byte| write!(f, "{}", char::from(byte)))
    }
}

/// A dispute's reason: its index in the append-only list of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8")]
pub struct DisputeReason(u8);

impl DisputeReason {
    /// The reason with this Stripe name; `other` if it is unknown.
    pub fn named(word: &str) -> Self {
        let place = REASONS.iter().position(|existing| *existing == word);
        Self(place.and_then(|at| u8::try_from(at).ok()).unwrap_or(OTHER))
    }

    /// Stripe's name for it.
    pub fn as_str(self) -> &'static str {
        REASONS.get(usize::from(self.0)).copied().unwrap_or("other")
    }
}

impl TryFrom<u8> for DisputeReason {
    type Error = &'static str;

    fn try_from(index: u8) -> Result<Self, Self::Error> {
        let is_known = usize::from(index) < REASONS.len();
        is_known
            .then_some(Self(index))
            .ok_or("a dispute's reason is not in the list")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_and_currencies_are_read_as_they_were_written() {
        for word in REASONS {
            let reason = DisputeReason::named(word);
            assert_eq!(reason.as_str(), word);
            assert_eq!(DisputeReason::try_from(reason.0), Ok(reason));
        }
        assert_eq!(DisputeReason::named("of_tomorrow").as_str(), "other");
        assert!(DisputeReason::try_from(17).is_err());
        assert_eq!(Currency::new("usd"), Some(Currency(*b"USD")));
        assert!(Currency::new("us").is_none() && Currency::new("u$d").is_none());
    }
}
