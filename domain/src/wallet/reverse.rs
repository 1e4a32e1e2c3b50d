//! Money going back, and coming again: refunds and disputes. They take credits out of the order's own
//! lot and nowhere else, never more than is left and not held there; a refund that fails and a dispute
//! that is won give back what they took.

use super::{
    Account, Archived, Change, Event, Wallet,
    draft::Draft,
    order::{Reversal, Stage},
};
use crate::{MAX_CREDITS, Rejection, id::OrderSerial, time::Timestamp};

/// Orders of one wallet that are not known yet and of which a reversal is kept. A wallet that has so many
/// knows no further order: whoever tells of it keeps the report and tells it again.
pub const MAX_EARLY: usize = 100;

impl Wallet {
    /// Decides what the payment's state changes. An order that is not paid, or not known, keeps it until
    /// its payment is heard of. An answer that is older than the last one is old news.
    pub fn reverse(
        &self,
        order: OrderSerial,
        mut reversal: Reversal,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        let known = self.reversal(order, archived);
        // What may not be read any more is what it was.
        let former = known.and_then(|known| known.dispute);
        reversal.dispute = reversal.dispute.or(former);
        if known.is_some_and(|known| reversal.as_of < known.as_of || reversal == known) {
            return Ok(Vec::new());
        }
        if known.is_none() && self.early_reversals() >= MAX_EARLY {
            return Err(Rejection::OrderNotFound);
        }
        let mut draft = Draft::on(self, Some(order), None, archived, now);
        let credits = draft.wallet.moved_by(order, reversal);
        draft.push(Change::OrderReversed {
            order,
            reversal,
            credits,
        });
        Ok(draft.finish())
    }

    /// Credits that a reversal takes (negative) or gives back (positive) as things stand.
    pub(super) fn moved_by(&self, serial: OrderSerial, reversal: Reversal) -> i64 {
        let paid = self.order(serial).filter(|o| o.stage == Stage::Paid);
        let Some(order) = paid else { return 0 };
        let account = self.account(order.terms.fills);
        let missing = order.worth(reversal).saturating_sub(order.taken);
        if missing > 0 {
            let free = account.zip(order.lot);
            let free = free.map_or(0, |(account, lot)| account.free_in(lot));
            return missing.min(free).saturating_neg();
        }
        let room = account.map_or(MAX_CREDITS, Account::room);
        missing.saturating_neg().min(room)
    }
}
