//! Changes of an unpaid order: its payment is processing, failed or expired. None of this is final: a payment that
//! completes later still counts.

use super::decision::DecisionBuilder;
use crate::{
    Rejection,
    id::OrderSerial,
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event, OrderClosed},
        order::Stage,
    },
};

impl Wallet {
    /// Decides what changes when the buyer is done and the payment is processing: a pending or expired order notes it.
    /// # Errors
    /// [`Rejection::OrderNotFound`] if the order is not known.
    pub fn process_order(
        &self,
        order: OrderSerial,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        self.note_processing(order, archived, now, true)
    }

    fn note_processing(
        &self,
        order: OrderSerial,
        archived: Archive<'_>,
        now: Timestamp,
        on_its_way: bool,
    ) -> Result<Vec<Event>, Rejection> {
        let existing = self
            .any_order(order, archived)
            .ok_or(Rejection::OrderNotFound)?;
        let waits = matches!(existing.stage, Stage::Pending | Stage::Expired);
        if !waits || existing.on_its_way == on_its_way {
            return Ok(Vec::new());
        }
        let mut decision = DecisionBuilder::on(self, Some(order), None, archived, now);
        decision.push(Change::OrderProcessing { order, on_its_way });
        Ok(decision.finish())
    }

    /// Decides what a failed payment does: a pending order fails, an expired one is no longer processing, any other
    /// stays as it is.
    /// # Errors
    /// [`Rejection::OrderNotFound`] if the order is not known.
    pub fn fail_order(
        &self,
        order: OrderSerial,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        self.close_order(order, archived, now, Change::OrderFailed)
    }

    /// Decides what the end of the provider's checkout session does: a pending order expires.
    /// # Errors
    /// [`Rejection::OrderNotFound`] if the order is not known.
    pub fn expire_order(
        &self,
        order: OrderSerial,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        self.close_order(order, archived, now, Change::OrderExpired)
    }

    fn close_order(
        &self,
        order: OrderSerial,
        archived: Archive<'_>,
        now: Timestamp,
        change: fn(OrderClosed) -> Change,
    ) -> Result<Vec<Event>, Rejection> {
        let existing = self
            .any_order(order, archived)
            .ok_or(Rejection::OrderNotFound)?;
        match existing.stage {
            Stage::Pending => {}
            Stage::Expired => return self.note_processing(order, archived, now, false),
            Stage::Paid | Stage::Failed => return Ok(Vec::new()),
        }
        let mut decision = DecisionBuilder::on(self, Some(order), None, archived, now);
        decision.push(change(OrderClosed {
            order,
            project: self.project,
            expires_at: existing.expires_at,
        }));
        Ok(decision.finish())
    }
}
