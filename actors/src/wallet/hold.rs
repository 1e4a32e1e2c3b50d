//! Setting credits aside, and closing what was set aside.

use domain::{
    Rejection, Timestamp,
    history::{HoldFacts, Lookup},
    id::HoldId,
    wallet::{Decision, Wallet, hold::PlaceHold},
};

use super::{Caller, Rules, state::WalletState};
use crate::answer::{Applied, Error, HoldAnswer};

impl WalletState {
    pub(super) fn place_hold(
        &mut self,
        caller: Caller,
        rules: &Rules,
        command: PlaceHold,
    ) -> Result<HoldAnswer, Error> {
        let now = self.up_to_date(caller, rules)?;
        let id = command.id;
        let prior = self.prior(Lookup::Hold(command.key.as_str()))?;
        match self.present()?.place_hold(command, prior.as_ref())? {
            Decision::Replay(hold) => Ok(self.hold_answer(hold, true)),
            Decision::Accept(change) => {
                self.change(now, change)?;
                self.open_hold(id)
            }
        }
    }

    pub(super) fn hold(
        &mut self,
        caller: Caller,
        rules: &Rules,
        id: HoldId,
    ) -> Result<HoldAnswer, Error> {
        self.at_hold(caller, rules)?;
        let closed = self.prior(Lookup::HoldClosed(id.serial))?;
        let hold = self.present()?.find_hold(&id, closed.as_ref())?;
        Ok(self.hold_answer(hold, false))
    }

    pub(super) fn settle(
        &mut self,
        caller: Caller,
        rules: &Rules,
        id: HoldId,
        amount: i64,
    ) -> Result<Applied, Error> {
        let now = self.at_hold(caller, rules)?;
        let closed = self.prior(Lookup::HoldClosed(id.serial))?;
        let product = self.present()?.find_hold(&id, closed.as_ref())?.product;
        let decision = self.present()?.settle(&id, amount, closed.as_ref())?;
        let replayed = matches!(decision, Decision::Replay(_));
        self.close(rules, now, decision)?;
        let applied = !replayed && amount > 0;
        Ok(Applied {
            balance: self.available(product),
            applied,
            replayed,
        })
    }

    pub(super) fn release(
        &mut self,
        caller: Caller,
        rules: &Rules,
        id: HoldId,
    ) -> Result<Applied, Error> {
        let now = self.at_hold(caller, rules)?;
        let closed = self.prior(Lookup::HoldClosed(id.serial))?;
        let product = self.present()?.find_hold(&id, closed.as_ref())?.product;
        let decision = self.present()?.release(&id, closed.as_ref())?;
        let replayed = matches!(decision, Decision::Replay(_));
        self.close(rules, now, decision)?;
        Ok(Applied {
            balance: self.available(product),
            applied: !replayed,
            replayed,
        })
    }

    pub(super) fn extend(
        &mut self,
        caller: Caller,
        rules: &Rules,
        id: HoldId,
        expires_at: Timestamp,
    ) -> Result<HoldAnswer, Error> {
        let now = self.at_hold(caller, rules)?;
        let closed = self.prior(Lookup::HoldClosed(id.serial))?;
        match self.present()?.extend(&id, expires_at, closed.as_ref())? {
            Decision::Replay(hold) => Ok(self.hold_answer(hold, false)),
            Decision::Accept(change) => {
                self.change(now, change)?;
                self.open_hold(id)
            }
        }
    }

    /// Credits that come back past their lot's expiry expire before anybody sees them.
    fn close(
        &mut self,
        rules: &Rules,
        now: Timestamp,
        decision: Decision<HoldFacts>,
    ) -> Result<(), Error> {
        if let Decision::Accept(change) = decision {
            self.change(now, change)?;
            self.catch_up(rules, now)?;
        }
        Ok(())
    }

    /// A hold is named by itself: whatever keeps its wallet away, it is the hold that is not found.
    fn at_hold(&mut self, caller: Caller, rules: &Rules) -> Result<Timestamp, Error> {
        self.up_to_date(caller, rules).map_err(|error| match error {
            Error::Rejected(Rejection::WalletNotFound) => Rejection::HoldNotFound.into(),
            other => other,
        })
    }

    fn present(&self) -> Result<&Wallet, Error> {
        self.wallet
            .as_ref()
            .ok_or_else(|| Rejection::HoldNotFound.into())
    }

    fn open_hold(&self, id: HoldId) -> Result<HoldAnswer, Error> {
        let hold = self
            .present()?
            .open_hold(&id)
            .ok_or(Rejection::HoldNotFound)?;
        Ok(self.hold_answer(hold, false))
    }

    fn hold_answer(&self, hold: HoldFacts, replayed: bool) -> HoldAnswer {
        HoldAnswer {
            hold,
            balance: self.available(hold.product),
            replayed,
        }
    }
}
