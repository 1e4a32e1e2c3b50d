//! Draws: parts of an open hold that are charged.

use domain::{
    Rejection,
    history::RecordKey,
    wallet::{Decision, draw::Draw},
};

use super::{
    Command, Turn,
    hold::{answer, closing_record, open},
};
use crate::answer::{Error, HoldAnswer};

impl Command for Draw {
    type Answer = HoldAnswer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let id = self.hold;
        let prior = turn.prior(RecordKey::Draw(self.key.as_str()))?;
        let closed = closing_record(turn, id)?;
        match turn.wallet()?.draw(self, prior.as_ref(), closed.as_ref())? {
            Decision::Replay(hold) => answer(turn, hold, true),
            Decision::Accept(change) => {
                turn.change(change)?;
                open(turn, id)
            }
        }
    }
}
