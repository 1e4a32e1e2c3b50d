//! Refunds: money that goes back, or is about to.

use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{PaymentId, RefundId},
    key::OperationKey,
};

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refund {
    /// Its identifier.
    pub id: RefundId,
    /// In the minor unit.
    pub amount: i64,
    /// Of which payment.
    pub payment_intent: Option<PaymentId>,
    /// `succeeded`, `pending`, `requires_action`, `failed` or `canceled`.
    pub status: Option<String>,
}

impl Client {
    /// Gives money of a payment back; all that is left of it without an amount.
    ///
    /// # Errors
    ///
    /// See [`Error`]; more than is left is refused.
    pub async fn create_refund(
        &self,
        intent: &PaymentId,
        amount: Option<i64>,
        key: &OperationKey,
    ) -> Result<Refund, Error> {
        let form = Form::new()
            .with("payment_intent", intent)
            .with_some("amount", amount);
        self.post(&["refunds"], &form, key).await
    }
}
