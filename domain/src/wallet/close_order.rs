//! The end of an order that was not paid. Nothing here is final: a payment that completes after all
//! still counts.

use super::{Archived, Change, Event, Wallet, draft::Draft, event::OrderClosed, order::Stage};
use crate::{Rejection, id::OrderSerial, time::Timestamp};

impl Wallet {
    /// Decides what a failed payment does: a pending order fails, any other one stays as it is.
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
        if known.stage != Stage::Pending {
            return Ok(Vec::new());
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
