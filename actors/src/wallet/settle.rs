//! Settles holds, also released or expired ones.

use domain::{
    Rejection,
    history::{EndedHold, Record, RecordKey, Taker},
    wallet::settle::{Late, Settle},
};

use super::{Command, Turn, deduct::meet, hold::closing_record};
use crate::answer::{CommandResult, Error};

impl Command for Settle {
    type Answer = CommandResult;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<CommandResult, Error> {
        let closed = closing_record(turn, self.hold)?;
        let closed = closed.as_ref();
        let late_key = self.late_key(closed);
        let deduction = match late_key {
            Some(key) => turn.prior(RecordKey::Deduct(key.as_str()))?,
            None => None,
        };
        let reversed = match late_key {
            Some(_) => turn.prior(RecordKey::ReversedInAll(Taker::Hold(self.hold.serial)))?,
            None => None,
        };
        let ended = late_key.and(closed).and_then(Record::ended_hold);
        let order = match ended.and_then(EndedHold::last_order) {
            Some(order) => turn.prior(RecordKey::Order(order))?,
            None => None,
        };
        let rules = turn.use_rules();
        let wallet = turn.wallet()?;
        let drawn = wallet.find_hold(&self.hold, closed)?.drawn;
        let late = Late {
            deduction: deduction.as_ref(),
            reversed: reversed.as_ref(),
            order: order.as_ref(),
        };
        let decided = wallet.settle(self, closed, late, rules, turn.now())?;
        let coverage = decided.coverage;
        let uses_credits = coverage.charged.saturating_add(coverage.owed) > drawn;
        meet(turn, decided, uses_credits)
    }
}
