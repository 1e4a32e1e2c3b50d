//! Gives back what a deduction took.

use domain::{
    history::{Record, RecordKey, Taker},
    wallet::{
        Decision,
        reverse_deduction::{ReversalFacts, ReverseDeduction, TracedDeduction},
    },
};

use super::{Command, Turn};
use crate::answer::{Error, ReversalAnswer};

/// Reverses a deduction that was read off the history.
pub(crate) struct Reverse {
    pub(crate) deduction: TracedDeduction,
    pub(crate) command: ReverseDeduction,
}

impl Command for Reverse {
    type Answer = ReversalAnswer;

    fn run(self, turn: &mut Turn<'_>) -> Result<ReversalAnswer, Error> {
        let Self { deduction, command } = self;
        let find = |key: Option<RecordKey<'_>>| match key {
            Some(key) => turn.prior(key),
            None => Ok(None),
        };
        let closed = find(deduction.hold().map(RecordKey::HoldClosed))?;
        let closed = closed.as_ref();
        let expired = closed.and_then(Record::expired);
        let late = find(expired.map(|it| RecordKey::Deduct(it.key.as_str())))?;
        let of = Taker::Deduction(deduction.record.seq);
        let of_hold = deduction.hold().map(Taker::Hold);
        let orders = deduction.orders(closed).into_iter();
        let orders = orders.map(|order| turn.prior(RecordKey::Order(order)));
        let orders: Vec<Record> = orders
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        let prior = find(Some(RecordKey::Reverse(command.key.as_str())))?;
        let reversed = find(Some(RecordKey::ReversedInAll(of)))?;
        let reversed_of_hold = find(of_hold.map(RecordKey::ReversedInAll))?;
        let facts = ReversalFacts {
            prior: prior.as_ref(),
            closed,
            late: late.as_ref(),
            reversed: reversed.as_ref(),
            reversed_of_hold: reversed_of_hold.as_ref(),
            orders: &orders,
        };
        let wallet = turn.wallet()?;
        let decided = wallet.reverse_deduction(command, &deduction, facts, turn.now())?;
        let (amount, replayed) = match decided {
            Decision::Replay(amount) => (amount, true),
            Decision::Accept((amount, events)) => {
                turn.together(events)?;
                (amount, false)
            }
        };
        Ok(ReversalAnswer {
            balance: turn.wallet()?.available(deduction.product),
            amount,
            replayed,
        })
    }
}
