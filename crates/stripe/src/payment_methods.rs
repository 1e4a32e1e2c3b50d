//! Cards on file, and how they are entered without a payment.

use domain::{
    time::Timestamp,
    top_up::{CardBrand, CardDigits, SavedCard},
};
use serde::Deserialize;

use super::{
    id::{CardId, CustomerId, SetupIntentId},
    object::{Expandable, object},
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PaymentMethod {
    pub id: CardId,
    /// The customer who has it; `None` once it is detached, which is for good.
    pub customer: Option<CustomerId>,
    /// `None` for another way to pay.
    card: Option<Card>,
    #[serde(default)]
    created: i64,
}

object!(CardId => PaymentMethod, "payment_methods", []);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Card {
    brand: CardBrand,
    last4: CardDigits,
    exp_month: u8,
    exp_year: u16,
}

impl PaymentMethod {
    /// The card in the domain's terms; `None` if it is none, or its customer has it no longer.
    pub(super) fn saved(self) -> Option<SavedCard> {
        let card = self.card?;
        Some(SavedCard {
            customer: self.customer?,
            id: self.id,
            brand: card.brand,
            last4: card.last4,
            exp_month: card.exp_month,
            exp_year: card.exp_year,
            saved_at: Timestamp(self.created.saturating_mul(1000)),
        })
    }
}

/// What the page of a session in setup mode makes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SetupIntent {
    pub id: SetupIntentId,
    pub payment_method: Option<Expandable<CardId>>,
}

object!(SetupIntentId => SetupIntent, "setup_intents", ["payment_method"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_saved_while_a_customer_has_it() {
        let read = |customer: &str, rest: &str| {
            let json = format!(
                r#"{{"id":"pm_1","object":"payment_method","created":1795000000,
                "customer":{customer},{rest}}}"#
            );
            serde_json::from_str::<PaymentMethod>(&json)
                .unwrap()
                .saved()
        };
        let card = r#""type":"card","card":{"brand":"visa","last4":"4242","exp_month":12,
            "exp_year":2034,"funding":"credit"}"#;
        let saved = read("\"cus_1\"", card).unwrap();
        assert_eq!((saved.id.as_str(), saved.last4.as_str()), ("pm_1", "4242"));
        assert_eq!((saved.exp_month, saved.exp_year), (12, 2034));
        assert_eq!(saved.saved_at, Timestamp(1_795_000_000_000));
        assert_eq!(read("null", card), None);
        assert_eq!(
            read("\"cus_1\"", r#""type":"link","link":{"email":"a@b.c"}"#),
            None
        );
    }
}
