//! Charges: money that was taken, and how much of it went back.

use serde::Deserialize;

use super::{
    id::{ChargeId, CustomerId, PaymentId},
    metadata::Metadata,
    object::object,
};

/// A charge, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Charge {
    /// Its identifier.
    pub id: ChargeId,
    /// What was asked for, in the minor unit.
    pub amount: i64,
    /// What was taken of that.
    #[serde(default)]
    pub amount_captured: Option<i64>,
    /// `succeeded`, `pending` or `failed`.
    #[serde(default)]
    pub status: Option<String>,
    /// When it was made, in seconds since the Unix epoch.
    #[serde(default)]
    pub created: i64,
    /// What its payer said of themselves.
    #[serde(default)]
    pub billing_details: BillingDetails,
    /// What went back of it in all, in the minor unit. Falls again where a refund fails.
    pub amount_refunded: i64,
    /// Whether all of it did.
    pub refunded: bool,
    /// Whether its payer's bank ever asked it back.
    #[serde(default)]
    pub disputed: bool,
    /// Lower case.
    pub currency: String,
    /// What it belongs to.
    pub payment_intent: Option<PaymentId>,
    /// Who paid.
    pub customer: Option<CustomerId>,
    /// Where its payer can read about it.
    pub receipt_url: Option<String>,
    /// What was written on the payment intent when it was charged.
    #[serde(default)]
    pub metadata: Metadata,
}

object!(ChargeId => Charge, "charges", []);

/// What a payer said of themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct BillingDetails {
    /// Their address.
    pub email: Option<String>,
}

impl Charge {
    /// Whether it took money: some only try, or reserve.
    pub(super) fn took(&self) -> bool {
        let succeeded = self
            .status
            .as_deref()
            .is_none_or(|status| status == "succeeded");
        succeeded && self.amount_captured.unwrap_or(self.amount) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partly_refunded_charge_is_read() {
        let json = r#"{"id":"ch_1","object":"charge","amount":500,"amount_refunded":200,
            "refunded":false,"currency":"usd","payment_intent":"pi_1","customer":null,
            "metadata":{},"disputed":false,"receipt_url":"https://pay.example/r"}"#;
        let charge: Charge = serde_json::from_str(json).unwrap();
        assert_eq!((charge.amount, charge.amount_refunded), (500, 200));
        assert!(!charge.refunded);
        assert_eq!(charge.receipt_url.as_deref(), Some("https://pay.example/r"));
        assert_eq!(charge.payment_intent, PaymentId::new("pi_1").ok());
    }
}
