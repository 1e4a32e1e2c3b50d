//! Draws: parts of an open hold that are charged.

use domain::{
    Rejection,
    history::{Record, RecordKey},
    wallet::{Decision, draw::Draw},
};

use super::{
    Command, Turn,
    hold::{answer, closing_record, open, rated_by},
};
use crate::answer::{Error, HoldAnswer, RatedCharge};

impl Command for Draw {
    type Answer = HoldAnswer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let id = self.hold;
        let prior = turn.prior(RecordKey::Draw(self.key.as_str()))?;
        let closed = closing_record(turn, id)?;
        let rules = (turn.use_rules(), turn.now());
        let wallet = turn.wallet()?;
        match wallet.draw(self, prior.as_ref(), closed.as_ref(), rules)? {
            Decision::Replay(hold) => {
                let entry = prior.as_ref().and_then(Record::entry);
                let rated = entry.and_then(|entry| {
                    RatedCharge::of(entry.rate.as_deref(), entry.delta.saturating_neg())
                });
                answer(turn, hold, rated, true)
            }
            Decision::Accept(change) => {
                let rated = rated_by(&change);
                turn.change(change)?;
                open(turn, id, rated)
            }
        }
    }
}
