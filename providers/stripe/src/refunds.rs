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

/// Stripe's largest page of a list, in objects.
const PAGE: u32 = 100;

/// A refund, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refund {
    /// Refund id, `re_` or `pyr_`.
    pub id: RefundId,
    /// Refunded amount, in the minor unit.
    pub amount: i64,
    /// The refunded charge.
    pub charge: Option<Expandable<ChargeId>>,
    /// Scrip's metadata on the refund.
    #[serde(default)]
    pub metadata: Metadata,
}

object!(RefundId => Refund, "refunds", []);

impl Client {
    /// Whether a payment has a refund, in any status, whose metadata names this operation.
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
