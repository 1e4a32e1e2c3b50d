//! Refunding an order at the caller's request. A requested refund counts until the payment shows it, so that two
//! callers cannot refund more than there is; the provider has the last word.

use super::instruction::{InstructionDecision, replay};
use crate::{
    Rejection,
    id::OrderSerial,
    text::IdempotencyKey,
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        instruction::{Instruction, InstructionRecord, InstructionStage},
    },
};

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
        let existing = self
            .any_order(order, archived)
            .ok_or(Rejection::OrderNotFound)?;
        let same = |former: &Instruction| {
            matches!(former, Instruction::Refund { order: of, requested, .. }
                if *of == order && *requested == amount_cents)
        };
        if let Some(decision) = replay(prior, same)? {
            return Ok(decision);
        }
        let refundable_cents = existing.refundable_cents();
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
            stage: InstructionStage::Requested,
        };
        Ok(InstructionDecision {
            events: self.instructed(record.clone(), Some(order), archived, now),
            record,
        })
    }
}
