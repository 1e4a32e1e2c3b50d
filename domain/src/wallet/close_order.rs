//! What becomes of an order that is not paid: its money is on its way, or it ends. Nothing here is
//! final: a payment that completes after all still counts.

use super::{Archived, Change, Event, Wallet, draft::Draft, event::OrderClosed, order::Stage};
use crate::{Rejection, id::OrderSerial, time::Timestamp};

impl Wallet {
    /// Decides what it does that the buyer is done and the money on its way: an order that waits for
    /// it, or did until it expired, says so.
    pub fn process_order(
        &self,
        order: OrderSerial,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        self.note_processing(order, archived, now, true)
    }

    fn note_processing(
        &self,
        order: OrderSerial,
        archived: Archived<'_>,
        now: Timestamp,
        on_its_way: bool,
    ) -> Result<Vec<Event>, Rejection> {
        let known = self.any_order(order, archived);
        let known = known.ok_or(Rejection::OrderNotFound)?;
        let waits = matches!(known.stage, Stage::Pending | Stage::Expired);
        if !waits || known.on_its_way == on_its_way {
            return Ok(Vec::new());
        }
        let mut draft = Draft::on(self, Some(order), None, archived, now);
        draft.push(Change::OrderProcessing { order, on_its_way });
        Ok(draft.finish())
    }

    /// Decides what a failed payment does: a pending order fails, one that expired waits for its money
    /// no longer, any other one stays as it is.
    pub fn fail_order(
        &self,
        order: OrderSerial,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        self.close_order(order, archived, now, Change::OrderFailed)
    }

    /// Decides what the end of the provider's checkout session does: a pending order expires.
    pub fn expire_order(
        &self,
        order: OrderSerial,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        self.close_order(order, archived, now, Change::OrderExpired)
    }

    fn close_order(
        &self,
        order: OrderSerial,
        archived: Archived<'_>,
        now: Timestamp,
        change: fn(OrderClosed) -> Change,
    ) -> Result<Vec<Event>, Rejection> {
        let known = self.any_order(order, archived);
        let known = known.ok_or(Rejection::OrderNotFound)?;
        match known.stage {
            Stage::Pending => {}
            Stage::Expired => return self.note_processing(order, archived, now, false),
            Stage::Paid | Stage::Failed => return Ok(Vec::new()),
        }
        let mut draft = Draft::on(self, Some(order), None, archived, now);
        draft.push(change(OrderClosed {
            order,
            project: self.project,
            expires_at: known.expires_at,
        }));
        Ok(draft.finish())
    }
}
