//! Stripe's identifiers: opaque texts of at most 255 bytes. Prefixes are not checked, since Stripe does not promise
//! them and older or renamed objects have others.
//!
//! Ids that Scrip stores (sessions, customers, payment intents, subscriptions, invoices) are the domain's types.

use std::fmt;

use domain::text::TextError;
pub use domain::text::{CardId, CheckoutId, CustomerId, InvoiceId, PaymentId, SubscriptionId};

/// Stripe: "identifiers are at most 255 characters".
const MAX_BYTES: usize = 255;

fn check(text: &str) -> Result<(), TextError> {
    if text.is_empty() || text.len() > MAX_BYTES {
        return Err(TextError("an identifier has 1 to 255 bytes"));
    }
    // Dots alone would change the URL path.
    if text.chars().any(char::is_control) || text.bytes().all(|byte| byte == b'.') {
        return Err(TextError(
            "an identifier has no control characters and not only dots",
        ));
    }
    Ok(())
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        domain::text!($(#[$doc])* $name, check);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(/// An event, `evt_`.
    EventId);
id!(/// A charge, `ch_` or `py_`.
    ChargeId);
id!(/// The entry of a card without a payment, `seti_`.
    SetupIntentId);
id!(/// A refund, `re_` or `pyr_`.
    RefundId);
id!(/// A dispute, `dp_` or `du_`.
    DisputeId);
id!(/// A subscription's schedule, `sub_sched_`.
    ScheduleId);
id!(/// An item of a subscription, `si_`.
    ItemId);
id!(/// A line of an invoice, `il_`.
    LineId);
id!(/// A product of Stripe's catalog, `prod_`; not one of ours.
    StripeProductId);
id!(/// A price of Stripe's catalog, `price_`; not one of ours.
    StripePriceId);
id!(/// A promotion code's identifier, `promo_`; not the code that people type.
    PromotionCodeId);
id!(/// A webhook endpoint, `we_`.
    WebhookEndpointId);
id!(/// A configuration of the customer portal, `bpc_`.
    ConfigurationId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_bounded_and_harmless_in_a_path() {
        for (text, good) in [
            ("cs_test_a1B2", true),
            ("gold plan/2019", true),
            ("a.b", true),
            ("", false),
            (".", false),
            ("..", false),
            ("cus_\n1", false),
        ] {
            assert_eq!(ChargeId::new(text).is_ok(), good, "{text:?}");
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(serde_json::from_str::<ChargeId>(&json).is_ok(), good);
        }
        assert!(ChargeId::new("x".repeat(255)).is_ok());
        assert!(ChargeId::new("x".repeat(256)).is_err());
    }
}
