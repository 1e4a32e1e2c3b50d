//! Refunds an order at the caller's request. A requested refund counts until the payment shows it, so that two callers
//! cannot refund more than there is; the provider decides in the end.

use super::instruction::{InstructionDecision, replay};
use crate::{
    Rejection,
    id::OrderSerial,
    text::{IdempotencyKey, PaymentId},
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        instruction::{Instruction, InstructionRecord, InstructionStage, RefundPart},
    },
};

/// What a payment can still give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refundable {
    /// The provider's payment.
    pub payment: PaymentId,
    /// The amount that is not refunded or disputed yet, in the currency's minor unit.
    pub cents: i64,
}

/// A request to refund an order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Refund {
    pub order: OrderSerial,
    /// The amount in the currency's minor unit; `None`: all that is left.
    pub amount_cents: Option<i64>,
    pub key: IdempotencyKey,
    /// The payments of the order's bill, if it was paid in parts; `None` if its only payment gives back all.
    pub payments: Option<Vec<Refundable>>,
}

impl Wallet {
    /// Decides a refund. `prior` is the record of this key's former use for one.
    /// # Errors
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
            payments,
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
        let left = existing.refundable_cents();
        let own = existing.payment.as_ref().map(|payment| Refundable {
            payment: payment.clone(),
            cents: left,
        });
        let payments = payments.unwrap_or_else(|| own.into_iter().collect());
        let refundable_cents = left.min(all_of(&payments));
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
                parts: divide(cents, payments),
                round: prior.map_or(0, next_round),
            },
            stage: InstructionStage::Requested,
        };
        Ok(InstructionDecision {
            events: self.instructed(record.clone(), Some(order), archived, now),
            record,
        })
    }
}

/// What payments can give back together, in the currency's minor unit.
pub fn all_of(payments: &[Refundable]) -> i64 {
    let cents = payments.iter().map(|payment| payment.cents.max(0));
    cents.fold(0, i64::saturating_add)
}

/// Divides an amount among payments: to a single one if it has enough, because one refund succeeds or fails as a whole;
/// else to one after the other.
fn divide(cents: i64, mut payments: Vec<Refundable>) -> Vec<RefundPart> {
    let alone = payments.iter().position(|payment| payment.cents >= cents);
    if let Some(alone) = alone {
        payments.swap(0, alone);
        payments.truncate(1);
    }
    let mut missing = cents;
    let mut parts = Vec::new();
    for Refundable { payment, cents } in payments {
        let cents = cents.min(missing);
        if cents > 0 {
            missing = missing.saturating_sub(cents);
            parts.push(RefundPart { payment, cents });
        }
    }
    parts
}

/// The round of a refund whose key was used before. A part that was refunded keeps its name at the provider, so another
/// part needs another name.
const fn next_round(prior: &InstructionRecord) -> u32 {
    match (&prior.instruction, prior.stage) {
        (Instruction::Refund { round, .. }, InstructionStage::Refused { given_cents: 1.. }) => {
            round.saturating_add(1)
        }
        (Instruction::Refund { round, .. }, _) => *round,
        _ => 0,
    }
}
