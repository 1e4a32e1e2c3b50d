//! Replaces the code of a wallet for an operator.

use std::sync::Arc;

use domain::{
    Rejection,
    code::RecoveryCode,
    text::IdempotencyKey,
    wallet::{Change, Owner, Wallet},
};

use super::{CatchUp, Command, Turn};
use crate::{
    answer::{Error, Rotation},
    keyring::Keyring,
};

/// Replaces the code without knowing it.
pub(crate) struct ReplaceCode {
    pub(crate) keyring: Arc<Keyring>,
    /// The call's key: a repeat returns the same code.
    pub(crate) key: Option<IdempotencyKey>,
    /// The present hour, and the earlier ones in which a call is replayed.
    pub(crate) hours: std::ops::RangeInclusive<i64>,
}

impl ReplaceCode {
    /// The code that a former call with this key drew, while that code opens the wallet.
    fn drawn_before(&self, wallet: &Wallet) -> Option<RecoveryCode> {
        let (key, Owner::Code { hash, .. }) = (self.key.as_ref()?, &wallet.owner) else {
            return None;
        };
        let place = (&wallet.key, wallet.rotations.checked_sub(1)?);
        let mut codes = self.hours.clone().filter_map(|hour| {
            let keyring = &self.keyring;
            keyring.replaced_code(wallet.project, place, key, hour)
        });
        codes.find(|code| self.keyring.code_hash(wallet.project, code) == *hash)
    }

    fn draw(&self, wallet: &Wallet) -> RecoveryCode {
        let place = (&wallet.key, wallet.rotations);
        let derived = self.key.as_ref().and_then(|key| {
            let keyring = &self.keyring;
            keyring.replaced_code(wallet.project, place, key, *self.hours.end())
        });
        derived.unwrap_or_else(|| self.keyring.draw_code())
    }
}

impl Command for ReplaceCode {
    type Answer = Rotation;

    /// As [`super::Rotate`] does.
    fn clear(&self, turn: &mut Turn<'_>) -> Result<CatchUp, Error> {
        match self.drawn_before(turn.wallet()?) {
            Some(_) => Ok(CatchUp::Up),
            None => turn.release_publishable_holds(),
        }
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<Rotation, Error> {
        let wallet = turn.wallet()?;
        let Owner::Code { hash: former, .. } = wallet.owner else {
            return Err(Rejection::NoRecoveryCode.into());
        };
        if let Some(code) = self.drawn_before(wallet) {
            let replayed = true;
            return Ok(Rotation { code, replayed });
        }
        let code = self.draw(wallet);
        let change = Change::CodeRotated {
            hash: self.keyring.code_hash(wallet.project, &code),
            sealed: self.keyring.seal(&code),
            former: Some(former),
        };
        turn.change(change)?;
        let replayed = false;
        Ok(Rotation { code, replayed })
    }
}
