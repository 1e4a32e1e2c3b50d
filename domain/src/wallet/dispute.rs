//! A dispute: a buyer's bank asks for an order's money back, or what it was for. What it takes is in the
//! order's [`Reversal`](super::Reversal); here is what a person has to know of it.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::{notice::OrderNews, time::Timestamp};

/// Why banks say that they ask. Source: Stripe, `Dispute.reason`.
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

/// A dispute, as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispute {
    /// When it was opened. Tells it from another one of the same payment.
    pub opened_at: Timestamp,
    /// What is asked back, in the minor unit of its own currency.
    pub amount_cents: i64,
    /// Which that is: usually the payment's.
    pub currency: Currency,
    /// Why.
    pub reason: DisputeReason,
    /// Until when an answer is waited for; `None`: none is, or not any more.
    pub respond_by: Option<Timestamp>,
    /// Whether the bank only asks, and takes nothing.
    pub inquiry: bool,
    /// How it ended; `None`: it has not.
    pub won: Option<bool>,
}

impl Dispute {
    /// What there is to tell once the newest dispute of an order stands so, and stood otherwise before.
    #[must_use]
    pub fn news(before: Option<Self>, now: Option<Self>) -> Option<OrderNews> {
        let now = now?;
        let same = before.filter(|before| before.opened_at == now.opened_at);
        match (same, now.won) {
            (None, None) => Some(OrderNews::Disputed),
            (None, Some(_)) => Some(OrderNews::DisputeClosed),
            (Some(before), Some(_)) => before.won.is_none().then_some(OrderNews::DisputeClosed),
            // The bank is asked once more, or it takes now what it only asked about.
            (Some(before), None) => (before.won.is_some() || before.inquiry && !now.inquiry)
                .then_some(OrderNews::Disputed),
        }
    }
}

/// A currency: ISO 4217, in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[u8; 3]")]
pub struct Currency([u8; 3]);

impl Currency {
    /// In either case; `None`: it is no three letters.
    #[must_use]
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

/// Why a bank asks: its index in the list, which is only ever added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8")]
pub struct DisputeReason(u8);

impl DisputeReason {
    /// By its word; `other` where nobody knows it.
    #[must_use]
    pub fn named(word: &str) -> Self {
        let place = REASONS.iter().position(|known| *known == word);
        Self(place.and_then(|at| u8::try_from(at).ok()).unwrap_or(OTHER))
    }

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        REASONS.get(usize::from(self.0)).copied().unwrap_or("other")
    }
}

impl TryFrom<u8> for DisputeReason {
    type Error = &'static str;

    fn try_from(index: u8) -> Result<Self, Self::Error> {
        let known = usize::from(index) < REASONS.len();
        known
            .then_some(Self(index))
            .ok_or("a dispute's reason is not in the list")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn dispute(opened: i64, inquiry: bool, won: Option<bool>) -> Option<Dispute> {
        Some(Dispute {
            opened_at: Timestamp(opened),
            amount_cents: 500,
            currency: Currency(*b"EUR"),
            reason: DisputeReason(6),
            respond_by: None,
            inquiry,
            won,
        })
    }

    #[test]
    fn what_is_opened_and_closed_is_told_once() {
        use OrderNews::{DisputeClosed, Disputed};
        for (before, now, news) in [
            (None, None, None),
            (None, dispute(1, false, None), Some(Disputed)),
            (dispute(1, false, None), dispute(1, false, None), None),
            (
                dispute(1, true, None),
                dispute(1, false, None),
                Some(Disputed),
            ),
            (
                dispute(1, false, None),
                dispute(1, false, Some(true)),
                Some(DisputeClosed),
            ),
            (
                dispute(1, false, Some(true)),
                dispute(1, false, Some(true)),
                None,
            ),
            (
                dispute(1, false, Some(false)),
                dispute(1, false, None),
                Some(Disputed),
            ),
            (None, dispute(1, true, Some(true)), Some(DisputeClosed)),
            (
                dispute(1, false, Some(true)),
                dispute(2, false, None),
                Some(Disputed),
            ),
            // It may not be read any more.
            (dispute(1, false, None), None, None),
        ] {
            assert_eq!(Dispute::news(before, now), news, "{before:?} {now:?}");
        }
    }

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
