//! Reverses deductions, and answers how much can be reversed.

use std::collections::BTreeMap;

use domain::{
    history::{Record, RecordContent, RecordKey, Taker},
    wallet::{
        Decision,
        reverse_deduction::{ReversalFacts, ReverseDeduction, TracedDeduction},
    },
};

use super::{Command, Turn};
use crate::answer::{Error, ReversalAnswer, ReversibleDeduction};

pub(crate) struct Reverse {
    pub(crate) deduction: TracedDeduction,
    pub(crate) command: ReverseDeduction,
}

pub(crate) struct AskReversible(pub(crate) TracedDeduction);

/// Answers how much of deductions was given back, by record number.
pub(crate) struct AskGivenBack(pub(crate) Vec<u64>);

/// The records of a deduction and its reversals, without the orders of its lots.
struct Traces {
    closed: Option<Record>,
    late: Option<Record>,
    reversed: Option<Record>,
    reversed_of_hold: Option<Record>,
}

impl Traces {
    fn find(turn: &Turn<'_>, deduction: &TracedDeduction) -> Result<Self, Error> {
        let find = |key: Option<RecordKey<'_>>| key.map_or(Ok(None), |key| turn.prior(key));
        let closed = find(deduction.hold().map(RecordKey::HoldClosed))?;
        let ended = closed.as_ref().and_then(Record::ended_hold);
        let late = find(ended.map(|it| RecordKey::Deduct(it.key.as_str())))?;
        let of = Taker::Deduction(deduction.record.seq);
        let of_hold = deduction.hold().map(Taker::Hold);
        let reversed = find(Some(RecordKey::ReversedInAll(of)))?;
        let reversed_of_hold = find(of_hold.map(RecordKey::ReversedInAll))?;
        Ok(Self {
            closed,
            late,
            reversed,
            reversed_of_hold,
        })
    }

    fn facts(&self) -> ReversalFacts<'_> {
        ReversalFacts {
            closed: self.closed.as_ref(),
            late: self.late.as_ref(),
            reversed: self.reversed.as_ref(),
            reversed_of_hold: self.reversed_of_hold.as_ref(),
            ..ReversalFacts::default()
        }
    }
}

impl Command for Reverse {
    type Answer = ReversalAnswer;

    fn run(self, turn: &mut Turn<'_>) -> Result<ReversalAnswer, Error> {
        let Self { deduction, command } = self;
        let traces = Traces::find(turn, &deduction)?;
        let orders = deduction.orders(traces.closed.as_ref()).into_iter();
        let orders = orders.map(|order| turn.prior(RecordKey::Order(order)));
        let orders: Vec<Record> = orders
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        let prior = turn.prior(RecordKey::Reverse(command.key.as_str()))?;
        let facts = ReversalFacts {
            prior: prior.as_ref(),
            orders: &orders,
            ..traces.facts()
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

impl Command for AskReversible {
    type Answer = ReversibleDeduction;

    fn run(self, turn: &mut Turn<'_>) -> Result<ReversibleDeduction, Error> {
        let Self(deduction) = self;
        let traces = Traces::find(turn, &deduction)?;
        let left = deduction.reversible(&traces.facts())?;
        Ok(ReversibleDeduction {
            at: deduction.record.at,
            product: deduction.product,
            credits: deduction.credits(),
            left,
            meta: deduction.meta,
        })
    }
}

impl Command for AskGivenBack {
    type Answer = BTreeMap<u64, i64>;

    fn run(self, turn: &mut Turn<'_>) -> Result<BTreeMap<u64, i64>, Error> {
        let mut all = BTreeMap::new();
        for seq in self.0 {
            let of = RecordKey::ReversedInAll(Taker::Deduction(seq));
            let stored = turn.prior(of)?;
            if let Some(RecordContent::ReversedInAll(_, credits)) = stored.map(|it| it.fact) {
                all.insert(seq, credits.get());
            }
        }
        Ok(all)
    }
}
