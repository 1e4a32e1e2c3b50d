//! Refunds of payments.

use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{ChargeId, PaymentId, RefundId},
    metadata::Metadata,
    object::{Expandable, PAGE_SIZE, object},
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refund {
    pub id: RefundId,
    pub amount: i64,
    pub currency: Option<String>,
    status: Option<String>,
    pub charge: Option<Expandable<ChargeId>>,
    #[serde(default)]
    pub metadata: Metadata,
}

object!(RefundId => Refund, "refunds", []);

impl Refund {
    /// Whether the money went back, or is about to.
    pub(super) fn counts(&self) -> bool {
        let status = self.status.as_deref();
        !matches!(status, Some("failed" | "canceled"))
    }
}

impl Client {
    /// Whether a payment has a refund, in any status, whose metadata names this operation.
    pub(super) async fn has_refund(&self, intent: &PaymentId, name: &str) -> Result<bool, Error> {
        let refunds = self.refunds(intent).await?;
        let mut names = refunds
            .iter()
            .map(|refund| refund.metadata.operation.as_deref());
        Ok(names.any(|operation| operation == Some(name)))
    }

    pub(super) async fn refunds(&self, intent: &PaymentId) -> Result<Vec<Refund>, Error> {
        let (mut refunds, mut after) = (Vec::new(), None::<String>);
        loop {
            let query = Form::new()
                .with("payment_intent", intent)
                .with("limit", PAGE_SIZE)
                .with_some("starting_after", after);
            let page = self.list::<RefundId>(&query, &[]).await?;
            refunds.extend(page.data);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(refunds),
            }
        }
    }
}
