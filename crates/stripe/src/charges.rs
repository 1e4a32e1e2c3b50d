//! Charges, and how much of them was refunded.

use serde::Deserialize;

use super::{
    id::{ChargeId, CustomerId, PaymentId},
    metadata::Metadata,
    object::object,
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Charge {
    pub id: ChargeId,
    pub amount: i64,
    #[serde(default)]
    pub amount_captured: Option<i64>,
    /// `succeeded`, `pending` or `failed`.
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub created: i64,
    #[serde(default)]
    pub billing_details: BillingDetails,
    /// Refunded so far, in the minor unit; decreases if a refund fails.
    pub amount_refunded: i64,
    pub refunded: bool,
    #[serde(default)]
    pub disputed: bool,
    pub currency: String,
    pub payment_intent: Option<PaymentId>,
    pub customer: Option<CustomerId>,
    pub receipt_url: Option<String>,
    /// Metadata of the payment intent when it was charged.
    #[serde(default)]
    pub metadata: Metadata,
}

object!(ChargeId => Charge, "charges", []);

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct BillingDetails {
    pub email: Option<String>,
}

impl Charge {
    /// Whether it captured money: some charges fail, or only authorize.
    pub(super) fn is_captured(&self) -> bool {
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
