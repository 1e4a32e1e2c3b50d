//! Settlements and draws of a batch.

use domain::{
    Rejection,
    id::HoldId,
    wallet::{draw::Draw, settle::Settle},
};

use super::{Command, Turn};
use crate::answer::{ChargeAnswer, Error};

/// What work cost that a hold was placed for.
#[derive(Debug, Clone)]
pub enum Charge {
    /// In all: the hold is closed.
    Settle(Settle),
    /// So far: the hold stays open.
    Draw(Draw),
}

impl Charge {
    pub(crate) const fn hold(&self) -> HoldId {
        match self {
            Self::Settle(settle) => settle.hold,
            Self::Draw(draw) => draw.hold,
        }
    }
}

impl Command for Charge {
    type Answer = ChargeAnswer;
    const ABSENT: Rejection = Rejection::HoldNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<ChargeAnswer, Error> {
        match self {
            Self::Settle(settle) => settle.run(turn).map(ChargeAnswer::Settled),
            Self::Draw(draw) => draw.run(turn).map(ChargeAnswer::Drawn),
        }
    }
}
