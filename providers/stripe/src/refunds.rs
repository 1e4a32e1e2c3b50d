//! Refunds: money that goes back, or is about to.

use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{ChargeId, PaymentId, RefundId},
    metadata::Metadata,
    object::{Expandable, object},
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
    /// Of which charge.
    pub charge: Option<Expandable<ChargeId>>,
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: Metadata,
}

object!(RefundId => Refund, "refunds", []);

impl Client {
    /// Whether a payment has a refund with an operation's name on it, however that stands.
    pub(super) async fn has_refund(&self, intent: &PaymentId, name: &str) -> Result<bool, Error> {
        let mut after: Option<String> = None;
        loop {
            let query = Form::new()
                .with("payment_intent", intent)
                .with("limit", PAGE)
                .with_some("starting_after", after);
            let page = self.list::<RefundId>(&query, &[]).await?;
            let named = |refund: &Refund| refund.metadata.operation.as_deref() == Some(name);
            if page.data.iter().any(named) {
                return Ok(true);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(false),
            }
        }
    }
}
