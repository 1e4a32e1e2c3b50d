//! Places and closes holds. The caller names the hold and not its wallet, so a missing wallet means a missing hold.

use domain::{
    Rejection, Timestamp,
    history::{HoldSnapshot, HoldStatus, Record, RecordContent, RecordKey},
    id::HoldId,
    wallet::{Change, Decision, hold::PlaceHold},
};

use super::{Command, Turn};
use crate::{
    HoldAccess,
    answer::{CommandResult, Error, HoldAnswer, RatedCharge},
};

impl Command for PlaceHold {
    type Answer = HoldAnswer;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let id = self.id;
        let prior = turn.prior(RecordKey::Hold(self.key.as_str()))?;
        let closed = match prior.as_ref().map(|prior| &prior.fact) {
            Some(RecordContent::HoldPlaced(placed, ..)) => closing_record(turn, placed.id)?,
            _ => None,
        };
        let (wallet, rules, now) = (turn.wallet()?, turn.use_rules(), turn.now());
        match wallet.place_hold(self, (prior.as_ref(), closed.as_ref()), rules, now)? {
            Decision::Replay(hold) => {
                let rate = match prior.as_ref().map(|prior| &prior.fact) {
                    Some(RecordContent::HoldPlaced(_, _, rate)) => rate.as_deref(),
                    _ => None,
                };
                let rated = RatedCharge::of(rate, hold.amount);
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

/// A command that uses a hold. A publishable key may use only holds placed under the wallet's present code, because a
/// thief of a former code may know others.
pub(crate) struct UseHold<V> {
    pub(crate) hold: HoldId,
    pub(crate) access: HoldAccess,
    pub(crate) command: V,
}

impl<V: Command> Command for UseHold<V> {
    type Answer = V::Answer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<V::Answer, Error> {
        if self.access == HoldAccess::CodeWallets {
            let closed = closing_record(turn, self.hold)?;
            let wallet = turn.wallet()?;
            let hold = wallet.find_hold(&self.hold, closed.as_ref())?;
            if wallet.is_of_former_code(&hold) {
                return Err(match hold.status {
                    HoldStatus::Open => Error::SecretKeyRequired,
                    _ => Rejection::HoldClosed.into(),
                });
            }
        }
        self.command.run(turn)
    }
}

pub(crate) struct FindHold(pub(crate) HoldId);

impl Command for FindHold {
    type Answer = HoldAnswer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let closed = closing_record(turn, self.0)?;
        let hold = turn.wallet()?.find_hold(&self.0, closed.as_ref())?;
        answer(turn, hold, None, false)
    }
}

pub(crate) struct Release(pub(crate) HoldId);

impl Command for Release {
    type Answer = CommandResult;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<CommandResult, Error> {
        let closed = closing_record(turn, self.0)?;
        let wallet = turn.wallet()?;
        let hold = wallet.find_hold(&self.0, closed.as_ref())?;
        let now = match wallet.release(&self.0, closed.as_ref())? {
            Decision::Replay(_) => false,
            Decision::Accept(change) => {
                turn.change(change)?;
                true
            }
        };
        Ok(CommandResult {
            balance: turn.wallet()?.available(hold.product),
            applied: now,
            replayed: !now,
            coverage: None,
            rated: None,
            late: false,
        })
    }
}

pub(crate) struct Extend {
    pub(crate) hold: HoldId,
    pub(crate) expires_at: Timestamp,
}

impl Command for Extend {
    type Answer = HoldAnswer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<HoldAnswer, Error> {
        let Self { hold, expires_at } = self;
        let closed = closing_record(turn, hold)?;
        let wallet = turn.wallet()?;
        match wallet.extend(&hold, expires_at, closed.as_ref())? {
            Decision::Replay(hold) => answer(turn, hold, None, false),
            Decision::Accept(change) => {
                turn.change(change)?;
                open(turn, hold, None)
            }
        }
    }
}

pub(super) fn closing_record(turn: &Turn<'_>, hold: HoldId) -> Result<Option<Record>, Error> {
    turn.prior(RecordKey::HoldClosed(hold.serial))
}

pub(super) fn open(
    turn: &Turn<'_>,
    id: HoldId,
    rated: Option<RatedCharge>,
) -> Result<HoldAnswer, Error> {
    let hold = turn.wallet()?.open_hold(&id);
    answer(turn, hold.ok_or(Rejection::HoldNotFound)?, rated, false)
}

/// What a rate card set aside or drew by this change.
pub(super) fn rated_by(change: &Change) -> Option<RatedCharge> {
    match change {
        Change::HoldPlaced { rate, amount, .. } | Change::HoldDrawn { rate, amount, .. } => {
            RatedCharge::of(rate.as_deref(), *amount)
        }
        _ => None,
    }
}

pub(super) fn answer(
    turn: &Turn<'_>,
    hold: HoldSnapshot,
    rated: Option<RatedCharge>,
    replayed: bool,
) -> Result<HoldAnswer, Error> {
    Ok(HoldAnswer {
        balance: turn.wallet()?.available(hold.product),
        hold,
        rated,
        replayed,
    })
}
