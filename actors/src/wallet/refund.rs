//! Decides about an order's refund at a caller's request, which is logged before the provider is asked.

use domain::{
    Rejection,
    history::{Record, RecordKey},
    id::OrderSerial,
    wallet::{Archive, InstructionRecord, loss::Loss, refund::Refund},
};

use super::{
    Command, Turn,
    instruction::{Instruct, log_decision},
};
use crate::answer::Error;

impl Command for Instruct<Refund> {
    type Answer = InstructionRecord;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error> {
        let order = self.command.order;
        let prior = turn.prior(RecordKey::Refund(self.command.key.as_str()))?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let record = turn.prior(RecordKey::Order(order))?;
        let archived = Archive {
            order: record.as_ref().and_then(Record::order),
            subscription_over: false,
        };
        let wallet = turn.wallet()?;
        let decided = wallet.refund(self.command, prior, archived, turn.now())?;
        log_decision(turn, decided, self.logs)
    }
}

/// What a wallet would lose by a refund.
pub(crate) struct LossByRefund {
    pub(crate) order: OrderSerial,
    pub(crate) cents: i64,
}

impl Command for LossByRefund {
    type Answer = Loss;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Loss, Error> {
        let record = turn.prior(RecordKey::Order(self.order))?;
        let archived = Archive {
            order: record.as_ref().and_then(Record::order),
            subscription_over: false,
        };
        let now = turn.now();
        let wallet = turn.wallet()?;
        Ok(wallet.loss_by_refund(self.order, self.cents, archived, now))
    }
}
