//! Giving money of an order back, on the caller's word. What was asked for counts until it is seen in the
//! payment, so that two callers cannot give back more than there is; the provider judges last.

use super::{
    Archived, Order, Wallet,
    instruction::{Instructed, Instructing, Instruction, InstructionStage, again},
    order::{AskedBack, Reversal, Stage},
};
use crate::{Rejection, id::OrderSerial, text::IdempotencyKey, time::Timestamp};

/// What was asked for and is not in the payment so long afterwards did not happen: nobody waits for the
/// provider any more.
const UNSEEN_SECONDS: i64 = 3600;

/// A request to give money back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Of which order.
    pub order: OrderSerial,
    /// How much, in the currency's minor unit; `None`: all that is left.
    pub amount_cents: Option<i64>,
    /// Names the operation: it is done once.
    pub key: IdempotencyKey,
}

impl Wallet {
    /// Decides a refund. `prior` is the record of this key's former use for one.
    ///
    /// # Errors
    ///
    /// [`Rejection::OrderNotFound`], [`Rejection::KeyReused`], and [`Rejection::AlreadyRefunded`] where
    /// less is left of the order; of one that is not paid, nothing is.
    pub fn refund(
        &self,
        command: Refund,
        prior: Option<&Instructed>,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Result<Instructing, Rejection> {
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
        let instruction = Instruction::Refund {
            order,
            requested: amount_cents,
            cents,
        };
        let instructed = Instructed {
            key,
            instruction: instruction.clone(),
            stage: InstructionStage::Asked,
        };
        Ok(Instructing {
            instruction,
            done: false,
            events: self.instructed(instructed, Some(order), archived, now),
        })
    }
}

impl Order {
    /// What can still be given back of what was charged: neither back already, nor asked for, nor
    /// disputed. What no payment of the provider's brought, it cannot give back.
    #[must_use]
    pub fn refundable_cents(&self) -> i64 {
        if self.stage != Stage::Paid || self.payment.is_none() {
            return 0;
        }
        let disputed = self.reversal.disputed_cents.max(0);
        let away = self.asked_cents().saturating_add(disputed);
        self.amount_cents.saturating_sub(away).max(0)
    }

    /// What is back once all that was asked for went through.
    fn asked_cents(&self) -> i64 {
        let asked = self.asked.map_or(0, |asked| asked.cents);
        self.reversal.refunded_cents.max(asked).max(0)
    }

    /// With so much more that is asked for; `None`: more than can be counted.
    pub(super) fn asking(&self, cents: i64, at: Timestamp) -> Option<AskedBack> {
        let cents = self.asked_cents().checked_add(cents)?;
        Some(AskedBack { cents, at })
    }

    /// With so much less, which was refused.
    pub(super) fn not_asking(&self, cents: i64) -> Option<AskedBack> {
        let asked = self.asked?;
        let cents = asked.cents.saturating_sub(cents);
        let left = AskedBack { cents, ..asked };
        Some(left).filter(|left| left.cents > self.reversal.refunded_cents.max(0))
    }

    /// What of it is not seen in the payment as it stands.
    pub(super) fn unseen(&self, reversal: Reversal) -> Option<AskedBack> {
        self.asked.filter(|asked| {
            let awaited = asked.at.plus_seconds(UNSEEN_SECONDS);
            asked.cents > reversal.refunded_cents && reversal.as_of < awaited
        })
    }
}
