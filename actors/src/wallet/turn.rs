//! A turn at a wallet, as a verb sees it: the wallet as it is now, what happened before, and the log.

use std::sync::Arc;

use domain::{
    Rejection, Timestamp,
    history::{Lookup, Record},
    wallet::{Change, Event, Owner, Wallet, catch_up::TURN},
};
use persistence::History;

use super::{Caller, Rules, Verb, recent::Recent, state::WalletState};
use crate::answer::Error;

/// Whether a wallet has all that the clock owes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Caught {
    Up,
    /// There is more; this turn is over.
    Behind,
}

/// See the module.
pub(crate) struct Turn<'a> {
    state: &'a mut WalletState,
    rules: &'a Rules,
    now: Timestamp,
}

impl<'a> Turn<'a> {
    pub(super) fn new(state: &'a mut WalletState, rules: &'a Rules) -> Self {
        let now = state.now(rules.ahead_millis);
        Self { state, rules, now }
    }

    /// The wallet: up to date, and the caller's to see.
    pub(super) fn wallet(&self) -> Result<&Wallet, Error> {
        let wallet = self.state.wallet.as_ref();
        wallet.ok_or_else(|| Rejection::WalletNotFound.into())
    }

    /// The present instant by the project's clock, the same during the whole turn.
    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// The record of a key's former use.
    pub(super) fn prior(&self, lookup: Lookup<'_>) -> Result<Option<Record>, Error> {
        self.state.prior(lookup)
    }

    /// The unfolded end of the wallet's history, and the rest of it.
    pub(super) const fn history(&self) -> (&Recent, &Arc<dyn History>) {
        (&self.state.recent, &self.state.history)
    }

    /// Logs a change as of now, and what that made fall due: credits that come back, or come at all,
    /// past their end are gone before anybody sees them.
    pub(super) fn change(&mut self, change: Change) -> Result<(), Error> {
        let wallet = self.state.wallet.as_ref();
        let at = wallet.map_or(self.now, |wallet| wallet.date(self.now));
        self.state.end_step()?;
        self.state.log(Event { at, change }, self.rules)?;
        while let Some(event) = self.wallet()?.next_due(&[], self.now) {
            self.state.log(event, self.rules)?;
        }
        self.state.end_step()
    }

    /// Logs events that survive together or not at all. Nothing is changed where they do not fit one
    /// append.
    pub(super) fn together(&mut self, events: Vec<Event>) -> Result<(), Error> {
        self.state.log_together(events, self.rules)
    }

    /// What comes before any verb: makes the wallet where the verb says how, lets the caller in,
    /// catches up.
    pub(super) fn prepare<V: Verb>(&mut self, verb: &V, caller: Caller) -> Result<Caught, Error> {
        if self.state.wallet.is_none() {
            match verb.creates() {
                Some(_) if V::CREATES_ALONG => return Ok(Caught::Up),
                Some(created) => {
                    let at = self.now;
                    let change = Change::Created(Box::new(created.clone()));
                    self.state.log(Event { at, change }, self.rules)?;
                }
                None => return Err(V::ABSENT.into()),
            }
        }
        self.admit(caller, V::ABSENT)?;
        match self.catch_up()? {
            Caught::Up => verb.clear(self),
            Caught::Behind => Ok(Caught::Behind),
        }
    }

    /// Whether the caller may see this wallet; if not, it is `absent`.
    pub(super) fn admit(&self, caller: Caller, absent: Rejection) -> Result<(), Error> {
        let wallet = self.state.wallet.as_ref();
        caller.check(wallet.ok_or(absent.clone())?, absent)
    }

    /// Applies what the clock owes, as far as one turn goes.
    pub(super) fn catch_up(&mut self) -> Result<Caught, Error> {
        for _ in 0..TURN {
            let Some(wallet) = &self.state.wallet else {
                return Ok(Caught::Up);
            };
            let grants = match &wallet.owner {
                Owner::Code { .. } if !self.rules.for_code_wallets => None,
                Owner::Code { .. } | Owner::External(_) => self.rules.free_grants.as_deref(),
                Owner::Order => None,
            };
            let due = wallet.next_due(grants.unwrap_or_default(), self.now);
            let Some(event) = due else {
                return Ok(Caught::Up);
            };
            self.state.log(event, self.rules)?;
            // A hundred orders may expire at once: their notices do not wait for each other.
            self.state.tell()?;
        }
        Ok(Caught::Behind)
    }

    /// Releases holds that end with the wallet's code, as far as one turn goes.
    pub(super) fn release_holds_of_the_code(&mut self) -> Result<Caught, Error> {
        let holds = self.wallet()?.holds_of_the_code();
        let holds: Vec<_> = holds.take(TURN).collect();
        for &hold in &holds {
            self.change(Change::HoldReleased { hold })?;
        }
        Ok(if holds.len() < TURN {
            Caught::Up
        } else {
            Caught::Behind
        })
    }
}
