//! Giving money back on the caller's word: that it was asked for is logged here, before the provider is
//! asked.

use domain::{
    Rejection,
    history::{Lookup, Record},
    id::OrderSerial,
    text::PaymentId,
    wallet::{Archived, Instruction, Order, refund::Refund},
};

use super::{Turn, Verb, instruction::instructed};
use crate::answer::Error;

/// What is to be given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refunding {
    /// Of which payment.
    pub payment: PaymentId,
    /// How much, in the currency's minor unit.
    pub cents: i64,
    /// Whether the provider gave it back already: it is not to be asked again.
    pub done: bool,
}

/// A refund to be decided, and with `logs` to be logged where the provider is to be asked.
pub(crate) struct AskRefund {
    pub(crate) refund: Refund,
    pub(crate) logs: bool,
}

impl Verb for AskRefund {
    type Answer = Refunding;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Refunding, Error> {
        let order = self.refund.order;
        let prior = turn.prior(Lookup::Refund(self.refund.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let record = turn.prior(Lookup::Order(order))?;
        let archived = Archived {
            order: record.as_ref().and_then(Record::order),
            subscription_over: false,
        };
        let wallet = turn.wallet()?;
        let payment = payment(wallet.order(order), archived, order);
        let decided = wallet.refund(self.refund, prior, archived, turn.now())?;
        let Instruction::Refund { cents, .. } = decided.instruction else {
            return Err(Error::Unavailable);
        };
        // Nothing of an order without a payment can be asked for.
        let payment = payment.ok_or(Rejection::AlreadyRefunded {
            refundable_cents: 0,
        })?;
        let done = decided.done;
        if self.logs {
            instructed(turn, decided.events)?;
        }
        Ok(Refunding {
            payment,
            cents,
            done,
        })
    }
}

/// The payment of an order, pending or archived.
fn payment(
    pending: Option<&Order>,
    archived: Archived<'_>,
    serial: OrderSerial,
) -> Option<PaymentId> {
    let archived = archived.order.filter(|archived| archived.serial == serial);
    let order = pending.or(archived.map(|archived| &archived.order))?;
    order.payment.clone()
}
