//! A turn at a wallet, as a command sees it: the wallet's present state, its history, and the log.

use std::{borrow::Cow, sync::Arc};

use domain::{
    Rejection, Timestamp,
    history::{Record, RecordKey},
    id::{OrderSerial, ProductId},
    limit::ProjectLimits,
    top_up::TopUp,
    wallet::{
        Change, Created, Event, FreeGrantRule, Owner, UseRules, Wallet,
        catch_up::MAX_EVENTS_PER_TURN, debt_limit::DebtLimit,
    },
};
use persistence::History;

use super::{Caller, Command, Rules, recent::Recent, state::WalletState};
use crate::{answer::Error, handle::serial, watches::WalletWatch};

/// Whether a wallet has caught up with the clock: all due events are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum CatchUp {
    Up,
    /// More events are due than fit a turn.
    Behind,
}

pub(crate) struct Turn<'a> {
    state: &'a mut WalletState,
    rules: &'a Rules,
    created: Option<&'a Created>,
    now: Timestamp,
    /// What could be spent before, of the credits that an automatic top-up watches.
    watched: Option<i64>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        state: &'a mut WalletState,
        rules: &'a Rules,
        created: Option<&'a Created>,
    ) -> Self {
        let now = state.now(rules.ahead_millis);
        let watched = state.wallet.as_ref().and_then(Wallet::watched_credits);
        Self {
            state,
            rules,
            created,
            now,
            watched,
        }
    }

    /// How the wallet is created if it is missing, or was created by this command.
    pub(super) const fn created(&self) -> Option<&'a Created> {
        self.created
    }

    /// The wallet, caught up with the clock and admitted to the caller.
    pub(super) fn wallet(&self) -> Result<&Wallet, Error> {
        let wallet = self.state.wallet.as_ref();
        wallet.ok_or_else(|| Rejection::WalletNotFound.into())
    }

    /// The present instant by the project's clock, the same during the whole turn.
    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    pub(super) fn debt_limits(&self) -> &'a [DebtLimit] {
        self.rules.debt_limits.as_deref().unwrap_or_default()
    }

    pub(super) fn use_rules(&self) -> UseRules<'a> {
        static NONE: ProjectLimits = ProjectLimits::NONE;
        UseRules {
            debts: self.debt_limits(),
            limits: self.rules.limits.as_deref().unwrap_or(&NONE),
        }
    }

    /// Runs a command. What is logged of a refusal is logged.
    pub(super) fn run<V: Command>(&mut self, command: V) -> Result<V::Answer, Error> {
        let answer = command.run(self);
        if let Err(Error::Rejected(refusal)) = &answer
            && let Some(change) = refusal.logged()
        {
            self.change(change)?;
        }
        if !V::READ_ONLY {
            let short = match &answer {
                Err(Error::Rejected(Rejection::Insufficient { product, .. })) => Some(*product),
                _ => None,
            };
            self.top_up(short);
        }
        answer
    }

    /// Charges the card on file if what was used leaves too little, or a use was refused for want of these credits.
    fn top_up(&mut self, short: Option<ProductId>) {
        let needs = |wallet: &Wallet| {
            let watched = wallet.top_up().and_then(TopUp::product);
            wallet.needs_top_up(self.watched, self.now) || short.is_some() && short == watched
        };
        if !self.state.wallet.as_ref().is_some_and(needs) {
            return;
        }
        // A log that takes no more refuses the command's own append, or the next turn decides again.
        if let Err(error) = self.step_top_up() {
            tracing::debug!(%error, "An automatic top-up waits for the next turn");
        }
        self.update_watched();
    }

    /// Takes what can be spent now for what could be before.
    pub(super) fn update_watched(&mut self) {
        self.watched = self.state.wallet.as_ref().and_then(Wallet::watched_credits);
    }

    /// Decides about the automatic top-up, and logs it.
    pub(super) fn step_top_up(&mut self) -> Result<(), Error> {
        let events = self.wallet()?.top_up_step(OrderSerial(serial()), self.now);
        if events.is_empty() {
            return Ok(());
        }
        self.state.end_step()?;
        for event in events {
            self.state.log(event, self.rules)?;
        }
        self.state.end_step()?;
        self.state.tell_top_up();
        Ok(())
    }

    /// The wallet as it is once it has caught up with the clock, and the records of what is due. Nothing is logged.
    pub(super) fn caught_up(&self) -> Result<(Cow<'_, Wallet>, Vec<Record>), Error> {
        let (rules, mut wallet) = (self.free_grants(), Cow::Borrowed(self.wallet()?));
        let mut records = Vec::new();
        for _ in 0..MAX_EVENTS_PER_TURN {
            let Some(event) = wallet.next_due(rules, self.now) else {
                break;
            };
            match wallet.to_mut().apply(event) {
                Ok(applied) => records.extend(applied.record),
                Err(_) => break,
            }
        }
        Ok((wallet, records))
    }

    /// The record that an idempotency key or id left earlier.
    pub(super) fn prior(&self, lookup: RecordKey<'_>) -> Result<Option<Record>, Error> {
        self.state.prior(lookup)
    }

    /// The unfolded end of the wallet's history, and its folded part.
    pub(super) const fn history(&self) -> (&Recent, &Arc<dyn History>) {
        (&self.state.recent, &self.state.history)
    }

    /// Logs a change as of now, and the events that it makes due: credits that return after their expiry expire before
    /// anybody sees them.
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

    pub(super) fn watched_by(&mut self, watch: Arc<WalletWatch>) {
        self.state.watched_by(Some(watch));
    }

    pub(super) fn free_grants(&self) -> &'a [FreeGrantRule] {
        let owner = self.state.wallet.as_ref().map(|wallet| &wallet.owner);
        let grants = match owner {
            Some(Owner::Code { .. }) if !self.rules.for_code_wallets => None,
            Some(Owner::Code { .. } | Owner::External(_)) => self.rules.free_grants.as_deref(),
            Some(Owner::Order) | None => None,
        };
        grants.unwrap_or_default()
    }

    /// Logs events as one append, all or none. Nothing changes if they do not fit.
    pub(super) fn together(&mut self, events: Vec<Event>) -> Result<(), Error> {
        self.state.log_together(events, self.rules)
    }

    /// Prepares a command: creates the wallet if the command allows it, checks the caller, catches up.
    pub(super) fn prepare<V: Command>(
        &mut self,
        command: &V,
        caller: Caller,
    ) -> Result<CatchUp, Error> {
        if V::CREATES_WALLET && self.state.wallet.is_none() && self.created.is_some() {
            return Ok(CatchUp::Up);
        }
        self.create_missing()?;
        self.admit(caller, V::ABSENT)?;
        if V::READ_ONLY {
            return Ok(CatchUp::Up);
        }
        match self.catch_up()? {
            CatchUp::Up => command.clear(self),
            CatchUp::Behind => Ok(CatchUp::Behind),
        }
    }

    /// Creates the wallet if it is missing and the command says how.
    pub(super) fn create_missing(&mut self) -> Result<(), Error> {
        let (None, Some(created)) = (&self.state.wallet, self.created) else {
            return Ok(());
        };
        let change = Change::Created(Box::new(created.clone()));
        let at = self.now;
        self.state.log(Event { at, change }, self.rules)
    }

    /// Checks whether the caller may see this wallet; if not, the answer is `absent`.
    pub(super) fn admit(&self, caller: Caller, absent: Rejection) -> Result<(), Error> {
        let wallet = self.state.wallet.as_ref();
        caller.check(wallet.ok_or(absent.clone())?, absent)
    }

    /// Logs the events that are due by now, at most [`MAX_EVENTS_PER_TURN`] of them.
    pub(super) fn catch_up(&mut self) -> Result<CatchUp, Error> {
        for _ in 0..MAX_EVENTS_PER_TURN {
            let Some(wallet) = &self.state.wallet else {
                return Ok(CatchUp::Up);
            };
            let due = wallet.next_due(self.free_grants(), self.now);
            let Some(event) = due else {
                return Ok(CatchUp::Up);
            };
            self.state.log(event, self.rules)?;
            // A hundred orders may expire at once, so each one's project events are added with its event.
            self.state.add_events_so_far()?;
        }
        Ok(CatchUp::Behind)
    }

    /// Releases holds that end with the wallet's code, at most [`MAX_EVENTS_PER_TURN`] of them.
    pub(super) fn release_publishable_holds(&mut self) -> Result<CatchUp, Error> {
        let holds = self.wallet()?.publishable_holds();
        let holds: Vec<_> = holds.take(MAX_EVENTS_PER_TURN).collect();
        for &hold in &holds {
            self.change(Change::HoldReleased { hold })?;
        }
        Ok(if holds.len() < MAX_EVENTS_PER_TURN {
            CatchUp::Up
        } else {
            CatchUp::Behind
        })
    }
}
