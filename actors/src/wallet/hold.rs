//! Setting credits aside, and closing what was set aside. A hold is named by itself: whatever keeps its
//! wallet away, it is the hold that is not found.

use domain::{
    Rejection, Timestamp,
    history::{HoldFacts, Lookup, Record},
    id::HoldId,
    wallet::{Decision, hold::PlaceHold},
};

use super::{Turn, Verb};
use crate::answer::{Applied, Error, HoldAnswer};

impl Verb for PlaceHold {
    type Answer = HoldAnswer;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let id = self.id;
        let prior = turn.prior(Lookup::Hold(self.key.as_str()))?;
        match turn.wallet()?.place_hold(self, prior.as_ref())? {
            Decision::Replay(hold) => answer(turn, hold, true),
            Decision::Accept(change) => {
                turn.change(change)?;
                open(turn, id)
            }
        }
    }
}

/// How a hold stands.
pub(crate) struct FindHold(pub(crate) HoldId);

impl Verb for FindHold {
    type Answer = HoldAnswer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let closed = closing(turn, self.0)?;
        let hold = turn.wallet()?.find_hold(&self.0, closed.as_ref())?;
        answer(turn, hold, false)
    }
}

/// Closes a hold by its cost.
pub(crate) struct Settle {
    pub(crate) hold: HoldId,
    /// 0 credits or more.
    pub(crate) amount: i64,
}

impl Verb for Settle {
    type Answer = Applied;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Applied, Error> {
        let closed = closing(turn, self.hold)?;
        let wallet = turn.wallet()?;
        let hold = wallet.find_hold(&self.hold, closed.as_ref())?;
        let decision = wallet.settle(&self.hold, self.amount, closed.as_ref())?;
        let applied = close(turn, hold, decision)?;
        Ok(Applied {
            applied: applied.applied && self.amount > 0,
            ..applied
        })
    }
}

/// Gives a hold back.
pub(crate) struct Release(pub(crate) HoldId);

impl Verb for Release {
    type Answer = Applied;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Applied, Error> {
        let closed = closing(turn, self.0)?;
        let wallet = turn.wallet()?;
        let hold = wallet.find_hold(&self.0, closed.as_ref())?;
        let decision = wallet.release(&self.0, closed.as_ref())?;
        close(turn, hold, decision)
    }
}

/// Gives a hold more time.
pub(crate) struct Extend {
    pub(crate) hold: HoldId,
    pub(crate) expires_at: Timestamp,
}

impl Verb for Extend {
    type Answer = HoldAnswer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let Self { hold, expires_at } = self;
        let closed = closing(turn, hold)?;
        let wallet = turn.wallet()?;
        match wallet.extend(&hold, expires_at, closed.as_ref())? {
            Decision::Replay(hold) => answer(turn, hold, false),
            Decision::Accept(change) => {
                turn.change(change)?;
                open(turn, hold)
            }
        }
    }
}

/// The record of a hold's end.
fn closing(turn: &Turn<'_>, hold: HoldId) -> Result<Option<Record>, Error> {
    turn.prior(Lookup::HoldClosed(hold.serial))
}

fn close(
    turn: &mut Turn<'_>,
    hold: HoldFacts,
    decision: Decision<HoldFacts>,
) -> Result<Applied, Error> {
    let applied = match decision {
        Decision::Replay(_) => false,
        Decision::Accept(change) => {
            turn.change(change)?;
            true
        }
    };
    Ok(Applied {
        balance: turn.wallet()?.available(hold.product),
        applied,
        replayed: !applied,
    })
}

fn open(turn: &Turn<'_>, id: HoldId) -> Result<HoldAnswer, Error> {
    let hold = turn.wallet()?.open_hold(&id);
    answer(turn, hold.ok_or(Rejection::HoldNotFound)?, false)
}

fn answer(turn: &Turn<'_>, hold: HoldFacts, replayed: bool) -> Result<HoldAnswer, Error> {
    Ok(HoldAnswer {
        hold,
        balance: turn.wallet()?.available(hold.product),
        replayed,
    })
}
