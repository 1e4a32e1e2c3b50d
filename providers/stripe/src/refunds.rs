//! Refunds: money that goes back, or is about to.

use serde::Deserialize;

use super::{
    client::{Client, Failure},
    error::Error,
    form::Form,
    id::{PaymentId, RefundId},
    key::OperationKey,
    metadata::{Metadata, OPERATION},
};

/// As many as Stripe lists at once.
const PAGE: u32 = 100;

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
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: Metadata,
}

#[derive(Debug, Deserialize)]
struct Refunds {
    data: Vec<Refund>,
    has_more: bool,
}

impl Client {
    /// Gives money of a payment back, in the minor unit, and writes the operation's name on the refund.
    pub(super) async fn create_refund(
        &self,
        intent: &PaymentId,
        amount: i64,
        name: &str,
        key: &OperationKey,
    ) -> Result<Refund, Failure> {
        let form = Form::new()
            .with("payment_intent", intent)
            .with("amount", amount)
            .with(format!("metadata[{OPERATION}]"), name);
        self.try_post(&["refunds"], &form, key).await
    }

    /// Whether a payment has a refund with an operation's name on it, however that stands.
    pub(super) async fn has_refund(&self, intent: &PaymentId, name: &str) -> Result<bool, Error> {
        let mut after: Option<RefundId> = None;
        loop {
            let form = Form::new()
                .with("payment_intent", intent)
                .with("limit", PAGE)
                .with_some("starting_after", after.as_ref());
            let page: Refunds = self.get(&["refunds"], &form).await?;
            let named = |refund: &Refund| refund.metadata.operation.as_deref() == Some(name);
            if page.data.iter().any(named) {
                return Ok(true);
            }
            after = page.data.into_iter().last().map(|refund| refund.id);
            if !page.has_more || after.is_none() {
                return Ok(false);
            }
        }
    }
}
