//! Refunding an order at the caller's request. A requested refund counts until the payment shows it, so that two
//! callers cannot refund more than there is; the provider has the last word.

use super::{
    Archive, Order, Wallet,
    instruction::{Instruction, InstructionDecision, InstructionRecord, InstructionStage, again},
    order::{PendingRefunds, Reversal, Stage},
};
use crate::{Rejection, id::OrderSerial, text::IdempotencyKey, time::Timestamp};

/// A requested refund that the payment does not show after this time did not happen: no request to the provider is
/// under way that long.
const UNSEEN_SECONDS: i64 = 3600;

/// A request to refund an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// The order to refund.
    pub order: OrderSerial,
    /// The amount in the currency's minor unit; `None`: all that is left.
    pub amount_cents: Option<i64>,
    /// The idempotency key: the operation is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a refund. `prior` is the record of this key's former use for one.
    ///
    /// # Errors
    ///
    /// [`Rejection::OrderNotFound`], [`Rejection::KeyReused`], or [`Rejection::AlreadyRefunded`] if less is left of
    /// the order; nothing is left of an unpaid one.
    pub fn refund(
        &self,
        command: Refund,
        prior: Option<&InstructionRecord>,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<InstructionDecision, Rejection> {
        let Refund {
            order,
            amount_cents,
            key,
        } = command;
        let known = self.any_order(order, archived);
        let known = known.ok_or(Rejection::OrderNotFound)?;
        let same = |former: &Instruction| {
            matches!(former, Instruction::Refund { order: of, requested, .. }
                if *of == order && *requested == amount_cents)
        };
        if let Some(again) = again(prior, same)? {
            return Ok(again);
        }
        let refundable_cents = known.refundable_cents();
        let cents = amount_cents.unwrap_or(refundable_cents);
        if !(1..=refundable_cents).contains(&cents) {
            return Err(Rejection::AlreadyRefunded { refundable_cents });
        }
        let record = InstructionRecord {
            key,
            instruction: Instruction::Refund {
                order,
                requested: amount_cents,
                cents,
            },
            stage: InstructionStage::Asked,
        };
        Ok(InstructionDecision {
            events: self.instructed(record.clone(), Some(order), archived, now),
            record,
        })
    }
}

impl Order {
    /// What can still be refunded of the charge: not refunded, requested or disputed yet. Nothing, if the provider
    /// took no payment for it.
    #[must_use]
    pub fn refundable_cents(&self) -> i64 {
        if self.stage != Stage::Paid || self.payment.is_none() {
            return 0;
        }
        let disputed = self.reversal.disputed_cents.max(0);
        let away = self.asked_cents().saturating_add(disputed);
        self.amount_cents.saturating_sub(away).max(0)
    }

    /// What is refunded in total once all requested refunds went through.
    fn asked_cents(&self) -> i64 {
        let asked = self.asked.map_or(0, |asked| asked.cents);
        self.reversal.refunded_cents.max(asked).max(0)
    }

    /// The requested refunds with one more; `None` if the sum overflows.
    pub(super) fn asking(&self, cents: i64, at: Timestamp) -> Option<PendingRefunds> {
        let cents = self.asked_cents().checked_add(cents)?;
        Some(PendingRefunds { cents, at })
    }

    /// The requested refunds without one that was refused.
    pub(super) fn without_refund(&self, cents: i64) -> Option<PendingRefunds> {
        let asked = self.asked?;
        let cents = asked.cents.saturating_sub(cents);
        let left = PendingRefunds { cents, ..asked };
        Some(left).filter(|left| left.cents > self.reversal.refunded_cents.max(0))
    }

    /// The requested refunds that this state of the payment does not show.
    pub(super) fn unseen(&self, reversal: Reversal) -> Option<PendingRefunds> {
        self.asked.filter(|asked| {
            let awaited = asked.at.plus_seconds(UNSEEN_SECONDS);
            asked.cents > reversal.refunded_cents && reversal.as_of < awaited
        })
    }
}
