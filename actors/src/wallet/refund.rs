//! Decides about an order's refund at a caller's request, which is logged before the provider is asked.

use domain::{
    Rejection,
    history::{Record, RecordKey},
    id::OrderSerial,
    text::PaymentId,
    wallet::{Archive, Instruction, Order, refund::Refund},
};

use super::{Command, Turn, instruction::instructed};
use crate::answer::Error;

/// A refund to request from the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundToRequest {
    /// The provider's payment to refund.
    pub payment: PaymentId,
    /// The amount to refund, in the currency's minor unit.
    pub cents: i64,
    /// Whether the provider has refunded it already and must not be asked again.
    pub done: bool,
}

/// Decides about a refund; with `logs`, the request is logged.
pub(crate) struct AskRefund {
    pub(crate) refund: Refund,
    pub(crate) logs: bool,
}

impl Command for AskRefund {
    type Answer = RefundToRequest;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<RefundToRequest, Error> {
        let order = self.refund.order;
        let prior = turn.prior(RecordKey::Refund(self.refund.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let record = turn.prior(RecordKey::Order(order))?;
        let archived = Archive {
            order: record.as_ref().and_then(Record::order),
            subscription_over: false,
        };
        let wallet = turn.wallet()?;
        let payment = payment(wallet.order(order), archived, order);
        let decided = wallet.refund(self.refund, prior, archived, turn.now())?;
        let Instruction::Refund { cents, .. } = decided.instruction else {
            return Err(Error::Unavailable);
        };
        // An order without a payment has nothing to refund.
        let payment = payment.ok_or(Rejection::AlreadyRefunded {
            refundable_cents: 0,
        })?;
        let done = decided.done;
        if self.logs {
            instructed(turn, decided.events)?;
        }
        Ok(RefundToRequest {
            payment,
            cents,
            done,
        })
    }
}

/// The payment of an order, pending or archived.
fn payment(
    pending: Option<&Order>,
    archived: Archive<'_>,
    serial: OrderSerial,
) -> Option<PaymentId> {
    let archived = archived.order.filter(|archived| archived.serial == serial);
    let order = pending.or(archived.map(|archived| &archived.order))?;
    order.payment.clone()
}
