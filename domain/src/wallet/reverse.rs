//! Money going back: refunds and disputes. They take credits out of the order's own lot and nowhere
//! else, never more than is left and not held there; a dispute that is won gives back what it took.

use super::{
    Account, Archived, Change, Event, Wallet,
    draft::Draft,
    order::{Dispute, Reversal, Stage},
};
use crate::{MAX_CREDITS, id::OrderSerial, time::Timestamp};

impl Wallet {
    /// Decides what a refund does. `refunded_cents` is the sum of all the order's refunds so far: a
    /// sum that is no larger than a known one is old news.
    #[must_use]
    pub fn refund(
        &self,
        order: OrderSerial,
        refunded_cents: i64,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let report = Reversal {
            refunded_cents,
            ..Reversal::default()
        };
        self.reverse(order, report, archived, now)
    }

    /// Decides what a dispute does, or its outcome. A state that the dispute is past is old news.
    #[must_use]
    pub fn dispute(
        &self,
        order: OrderSerial,
        dispute: Dispute,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let report = Reversal {
            dispute,
            ..Reversal::default()
        };
        self.reverse(order, report, archived, now)
    }

    /// An order that is not paid, or not known, keeps the report until its payment is heard of.
    fn reverse(
        &self,
        order: OrderSerial,
        report: Reversal,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Vec<Event> {
        let known = self.reversal(order, archived);
        let reversal = known.and(report);
        if reversal == known {
            return Vec::new();
        }
        let mut draft = Draft::on(self, Some(order), None, archived, now);
        let credits = draft.wallet.moved_by(order, reversal);
        draft.push(Change::OrderReversed {
            order,
            reversal,
            credits,
        });
        draft.finish()
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
