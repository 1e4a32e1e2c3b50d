//! Refunds and disputes. They take credits only from the order's own lot, and only free ones. A failed refund or a won
//! dispute gives them back.

use super::decision::DecisionBuilder;
use crate::{
    Rejection,
    id::OrderSerial,
    project_event::OrderEvent,
    time::Timestamp,
    top_up::Suspension,
    wallet::state::{
        Wallet,
        archive::Archive,
        commerce::MAX_UNKNOWN_ORDERS,
        event::{Change, Event},
        order::{Reversal, Stage},
    },
};

impl Wallet {
    /// Decides what a payment's refunds and disputes change. Those of an unpaid or unknown order are kept until its
    /// payment is reported. An older report than the last one is ignored.
    /// # Errors
    /// [`Rejection::OrderNotFound`] for an unknown order, if reversals of [`MAX_UNKNOWN_ORDERS`] others are kept
    /// already.
    pub fn reverse(
        &self,
        order: OrderSerial,
        mut reversal: Reversal,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        let previous = self.reversal(order, archived);
        // A dispute that the provider no longer returns stays.
        let former = previous.and_then(|previous| previous.dispute);
        reversal.dispute = reversal.dispute.or(former);
        if previous.is_some_and(|previous| reversal.as_of < previous.as_of || reversal == previous)
        {
            return Ok(Vec::new());
        }
        if previous.is_none() && self.early_reversals() >= MAX_UNKNOWN_ORDERS {
            return Err(Rejection::OrderNotFound);
        }
        let mut decision = DecisionBuilder::on(self, Some(order), None, archived, now);
        let credits = decision.wallet.credits_moved_by(order, reversal);
        decision.push(Change::OrderReversed {
            order,
            reversal,
            credits,
        });
        let opened = OrderEvent::of_dispute(former, reversal.dispute);
        let withheld = previous.map_or(0, |previous| previous.disputed_cents);
        if opened == Some(OrderEvent::Disputed) || reversal.disputed_cents > withheld {
            decision.suspend_top_up(order, Suspension::Disputed);
        }
        Ok(decision.finish())
    }

    /// Credits that a reversal takes (negative) or gives back (positive) in the wallet's present state.
    pub(super) fn credits_moved_by(&self, serial: OrderSerial, reversal: Reversal) -> i64 {
        let paid = self.order(serial).filter(|o| o.stage == Stage::Paid);
        let Some(order) = paid else { return 0 };
        let product = order.terms.fills;
        let missing = order
            .worth(reversal)
            .saturating_sub(order.reclaimed_credits);
        if missing > 0 {
            let free = self.account(product).zip(order.lot);
            let free = free.map_or(0, |(account, lot)| account.free_in(lot));
            return missing.min(free).saturating_neg();
        }
        missing.saturating_neg().min(self.room(product))
    }
}
