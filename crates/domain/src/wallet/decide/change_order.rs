//! Small changes of one order: its payment is processing, failed or expired, none of which is final, since a payment that
//! completes later still counts; or what it says about a person is erased. Money, credits and the provider's identifiers
//! stay, because refunds and disputes need them.

use super::decision::DecisionBuilder;
use crate::{
    Rejection,
    id::OrderSerial,
    time::Timestamp,
    top_up::ChargeFailure,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event, OrderClosed},
        order::{Order, OrderErased, Stage},
    },
};

/// What is reported of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderReport {
    /// The buyer is done and the payment is processing: a pending or expired order notes it.
    Processing,
    /// The payment failed: a pending order fails, an expired one is no longer processing, any other stays as it is.
    Failed,
    /// The card on file was charged for it, and that brought nothing.
    ChargeFailed(ChargeFailure),
    /// The provider's checkout session ended: a pending order expires.
    Expired,
    /// Its email address and metadata are to be erased.
    Erased,
}

impl Wallet {
    /// Decides what a report changes, perhaps nothing.
    /// # Errors
    /// [`Rejection::OrderNotFound`] if the order is not known.
    pub fn change_order(
        &self,
        order: OrderSerial,
        report: OrderReport,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        let existing = self.any_order(order, archived);
        let existing = existing.ok_or(Rejection::OrderNotFound)?;
        let failure = match &report {
            OrderReport::ChargeFailed(failure) => Some(failure.clone()),
            OrderReport::Failed => Some(ChargeFailure::canceled()),
            _ => None,
        };
        let change = self.order_change(order, existing, &report);
        let attempt = failure.and_then(|failure| self.failed_attempt(order, failure));
        if change.is_none() && attempt.is_none() {
            return Ok(Vec::new());
        }
        let mut decision = DecisionBuilder::on(self, Some(order), None, archived, now);
        let attempt = attempt.into_iter().flatten();
        for change in change.into_iter().chain(attempt) {
            decision.push(change);
        }
        Ok(decision.finish())
    }

    fn order_change(
        &self,
        order: OrderSerial,
        existing: &Order,
        report: &OrderReport,
    ) -> Option<Change> {
        let project = self.project;
        let processing = |on_its_way: bool| {
            let changes = existing.on_its_way != on_its_way;
            changes.then_some(Change::OrderProcessing { order, on_its_way })
        };
        let closed = OrderClosed {
            order,
            project,
            expires_at: existing.expires_at,
        };
        match (report, existing.stage) {
            (OrderReport::Erased, _)
                if existing.email.is_none() && existing.metadata.is_empty() =>
            {
                None
            }
            (OrderReport::Erased, _) => Some(Change::OrderErased(Box::new(OrderErased {
                order,
                project,
                email: existing.email.clone(),
            }))),
            (_, Stage::Paid | Stage::Failed) => None,
            (OrderReport::Processing, Stage::Pending | Stage::Expired) => processing(true),
            (
                OrderReport::Failed | OrderReport::ChargeFailed(_) | OrderReport::Expired,
                Stage::Expired,
            ) => processing(false),
            (OrderReport::Failed | OrderReport::ChargeFailed(_), Stage::Pending) => {
                Some(Change::OrderFailed(closed))
            }
            (OrderReport::Expired, Stage::Pending) => Some(Change::OrderExpired(closed)),
        }
    }
}
