//! Lists of money that moved, whoever's it was: charges, refunds, disputes, by when they were made.

use domain::text::PaymentId;
use serde::Deserialize;

use super::{
    charges::Charge,
    client::Client,
    disputes::DisputeStatus,
    error::Error,
    form::Form,
    id::{DisputeId, RefundId},
};

/// The most that a page has.
const PAGE: u8 = 100;

/// A span of time, in seconds since the Unix epoch: the first in it and the first after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: i64,
    pub(super) until: i64,
}

/// A page of a list, the newest first.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Lines<T> {
    pub(super) data: Vec<T>,
    #[serde(default)]
    pub(super) has_more: bool,
}

/// A refund with its charge.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RefundLine {
    pub(super) id: RefundId,
    pub(super) amount: i64,
    pub(super) charge: Option<Charge>,
}

/// A dispute with its charge.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct DisputeLine {
    pub(super) id: DisputeId,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) status: DisputeStatus,
    pub(super) charge: Charge,
}

impl Client {
    /// Charges that were made within a span, also those that failed.
    pub(super) async fn charges(
        &self,
        span: Span,
        after: Option<&str>,
    ) -> Result<Lines<Charge>, Error> {
        self.list(&["charges"], &span.form(after)).await
    }

    /// Refunds that were made within a span, however they stand.
    pub(super) async fn refunds(
        &self,
        span: Span,
        after: Option<&str>,
    ) -> Result<Lines<RefundLine>, Error> {
        let form = span.form(after).with("expand[0]", "data.charge");
        self.list(&["refunds"], &form).await
    }

    /// Disputes that were opened within a span, however they stand.
    pub(super) async fn disputes(
        &self,
        span: Span,
        after: Option<&str>,
    ) -> Result<Lines<DisputeLine>, Error> {
        let form = span.form(after).with("expand[0]", "data.charge");
        self.list(&["disputes"], &form).await
    }

    /// The charge that took a payment's money.
    pub(super) async fn charge_of(&self, payment: &PaymentId) -> Result<Option<Charge>, Error> {
        let intent = self.payment_intent(payment).await?;
        match &intent.latest_charge {
            Some(charge) => self.charge(charge.id()).await.map(Some),
            None => Ok(None),
        }
    }
}

impl Span {
    fn form(self, after: Option<&str>) -> Form {
        Form::new()
            .with("limit", PAGE)
            .with("created[gte]", self.from)
            .with("created[lt]", self.until)
            .with_some("starting_after", after)
    }
}
