//! The state of an awake wallet, and its use of the log and the store: it finds a key's former use, logs events, and
//! answers once they are durable.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use domain::{
    Timestamp,
    history::{Record, RecordKey},
    id::WalletKey,
    project_event::{EventCollector, EventData},
    wallet::{Event, Wallet},
};
use persistence::{
    Append, AppendRefusal, History, ListChange, LoadedWallet, OnOutcome, Outcome, Store, Ticket,
};
use tokio::sync::Notify;

use super::{Rules, recent::Recent};
use crate::{answer::Error, clock::Clock, watches::WalletWatch};

/// Beyond this size, pending events go to the journal before the command ends, so that an append never outgrows a
/// frame.
const FLUSH_BYTES: usize = Append::MAX_BYTES / 2;

pub(crate) struct WalletState {
    pub(super) key: WalletKey,
    /// `None` until it is created.
    pub(super) wallet: Option<Wallet>,
    pub(super) recent: Recent,
    pub(super) history: Arc<dyn History>,
    pub(super) clock: Arc<dyn Clock>,
    store: Store,
    /// This command's events, applied to memory and not yet appended.
    pending: Append,
    /// Changes of the current step without a project event yet, and their instant.
    watch: EventCollector,
    watched_at: Timestamp,
    last: Ticket,
    /// How far the log was folded when the history was last asked.
    folded: Ticket,
    /// The watchers to notify of durable appends, if any.
    watchers: Option<Arc<WalletWatch>>,
    /// Who charges cards, to be notified of what [`WalletState::tell_top_up`] announces.
    charger: Option<Arc<Notify>>,
    /// Whether the pending append has something for it.
    has_top_up: bool,
    /// Memory is ahead of a log that refused an append, or a command panicked: this state must not be used again.
    diverged: bool,
}

/// A wallet's memory differs from its log: it has to be reloaded from the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the wallet's memory differs from its log")]
pub(crate) struct Diverged;

impl WalletState {
    pub(crate) fn new(
        key: WalletKey,
        stored: Option<LoadedWallet>,
        store: Store,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (wallet, history) = match stored {
            Some(LoadedWallet { wallet, history }) => (Some(wallet), history),
            None => (None, store.books.new_history(&key)),
        };
        Self {
            key,
            wallet,
            recent: Recent::default(),
            history,
            clock,
            store,
            pending: Append::default(),
            watch: EventCollector::default(),
            watched_at: Timestamp::default(),
            last: Ticket::default(),
            folded: Ticket::default(),
            watchers: None,
            charger: None,
            has_top_up: false,
            diverged: false,
        }
    }

    pub(crate) fn watched_by(&mut self, watch: Option<Arc<WalletWatch>>) {
        self.watchers = watch;
    }

    pub(crate) fn charged_by(&mut self, charger: Arc<Notify>) {
        self.charger = Some(charger);
    }

    /// Notifies who charges cards once what is pending is durable.
    pub(super) const fn tell_top_up(&mut self) {
        self.has_top_up = true;
    }

    /// Runs a turn on this state. A panic is caught here: the caller must not fail with the wallet.
    pub(crate) fn turn<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Result<T, Diverged> {
        if self.diverged {
            return Err(Diverged);
        }
        // The checkpoint mark is shared by all wallets and stays in the cache; the history is asked only after it moved.
        let folded = self.store.books.applied();
        if folded != self.folded {
            self.folded = folded;
            self.recent.folded(self.history.applied());
        }
        let ran = catch_unwind(AssertUnwindSafe(|| run(self)));
        self.diverged |= ran.is_err();
        match ran {
            Ok(value) if !self.diverged => Ok(value),
            Ok(_) | Err(_) => Err(Diverged),
        }
    }

    pub(crate) fn is_folded(&self, folded: Ticket) -> bool {
        self.last <= folded
    }

    /// Appends this command's events, and calls `answer` when they and all earlier ones are durable.
    pub(super) fn finish(&mut self, answer: impl FnOnce(Result<(), Error>) + Send + 'static) {
        // A decision on a state that the log lacks must not be answered.
        if self.diverged {
            return answer(Err(Error::Unavailable));
        }
        if self.pending.events() == 0 && self.store.log.can_serve_reads(self.last) {
            return answer(Ok(()));
        }
        // When the journal refuses the append, `done` and its reply are dropped: an unknown outcome.
        self.hand_over(Some(Box::new(move |outcome| match outcome {
            Outcome::Durable => answer(Ok(())),
            Outcome::Unknown => answer(Err(Error::Unavailable)),
        })));
    }

    /// Appends the pending events to the log. `done` may run before this returns.
    pub(crate) fn hand_over(&mut self, done: Option<OnOutcome>) {
        // Events and their project events are in one append: both survive, or neither.
        if !self.diverged && self.add_events_of_step().is_ok() {
            self.append(done);
        }
    }

    fn append(&mut self, done: Option<OnOutcome>) {
        let append = std::mem::take(&mut self.pending);
        let writes = append.events() > 0;
        if !writes && done.is_none() {
            return;
        }
        let done = if writes { self.notifying(done) } else { done };
        let done = if writes {
            self.notifying_charger(done)
        } else {
            done
        };
        match self.store.log.append(append, done) {
            Ok(ticket) if writes => self.last = ticket,
            Ok(_) => {}
            Err(_) => self.diverged |= writes,
        }
    }

    /// The callback, followed by notifying the watchers.
    fn notifying(&mut self, done: Option<OnOutcome>) -> Option<OnOutcome> {
        drop(self.watchers.take_if(|watch| !watch.is_watched()));
        let Some(watch) = self.watchers.clone() else {
            return done;
        };
        Some(Box::new(move |outcome| {
            if let Some(done) = done {
                done(outcome);
            }
            watch.changed();
        }))
    }

    fn notifying_charger(&mut self, done: Option<OnOutcome>) -> Option<OnOutcome> {
        if !std::mem::take(&mut self.has_top_up) {
            return done;
        }
        let charger = self.charger.clone()?;
        Some(Box::new(move |outcome| {
            if let Some(done) = done {
                done(outcome);
            }
            charger.notify_one();
        }))
    }

    /// Passes the wallet to `visit` between turns, when all of its events are in the log.
    pub(crate) fn show(&self, visit: &mut dyn FnMut(&Wallet, Ticket)) {
        if let Some(wallet) = &self.wallet
            && !self.diverged
            && self.pending.events() == 0
        {
            visit(wallet, self.last);
        }
    }

    pub(super) fn now(&self, ahead_millis: i64) -> Timestamp {
        let now = self.clock.now();
        Timestamp(now.0.saturating_add(ahead_millis))
    }

    /// The record that an idempotency key or id left earlier.
    pub(super) fn prior(&self, lookup: RecordKey<'_>) -> Result<Option<Record>, Error> {
        let hash = lookup.hash(&self.key);
        let matches = |record: &Record| record.lookup() == Some(lookup);
        let record = match self.recent.find(hash, matches) {
            Ok(None) => self.history.find(hash, &matches),
            record => record,
        };
        record.map_err(|error| unreadable(&self.key, &error))
    }

    /// Applies an event to memory and adds it to the pending append.
    pub(super) fn log(&mut self, event: Event, rules: &Rules) -> Result<(), Error> {
        if self.diverged {
            return Err(Error::Unavailable);
        }
        if self.pending.events() == 0 {
            self.require_room()?;
        }
        // Events at different instants are separate steps, because a reader could have seen the wallet in between.
        if event.at != self.watched_at {
            self.end_step()?;
        }
        self.add(event, rules)?;
        if self.pending.bytes().len() > FLUSH_BYTES {
            self.hand_over(None);
            if self.diverged {
                return Err(Error::Unavailable);
            }
        }
        Ok(())
    }

    /// Applies events and adds them to one append, all or none.
    pub(super) fn log_together(&mut self, events: Vec<Event>, rules: &Rules) -> Result<(), Error> {
        // Events of catching up are a separate append.
        self.hand_over(None);
        self.watch = EventCollector::default();
        if self.diverged {
            return Err(Error::Unavailable);
        }
        self.require_room()?;
        for event in events {
            if let Err(error) = self.add(event, rules) {
                return Err(self.drop_pending(error));
            }
        }
        self.end_step().map_err(|error| self.drop_pending(error))
    }

    /// Drops pending events that memory has and the log does not: the wallet will be reloaded.
    fn drop_pending(&mut self, error: Error) -> Error {
        self.pending = Append::default();
        self.diverged = true;
        error
    }

    /// Adds an event to the pending append and applies it. If it does not fit, nothing changes.
    fn add(&mut self, event: Event, rules: &Rules) -> Result<(), Error> {
        let thresholds = rules.low_balances.as_deref().unwrap_or_default();
        self.watched_at = event.at;
        let version = self.wallet.as_ref().map_or(0, |wallet| wallet.version);
        let version = version.checked_add(1).ok_or(Error::Unavailable)?;
        let hash = RecordKey::of(&event.change).map(|lookup| lookup.hash(&self.key));
        let entry = self.pending.begin(&self.key, version, &event, hash);
        let entry = entry.map_err(|_| Error::TooLarge)?;
        let (wallet, applied) = match Wallet::replay(&mut self.wallet, self.key, event) {
            Ok(replayed) => replayed,
            // An event that does not fit the state of its decision is a defect: the actor is torn down, the event is
            // never logged, and the wallet is reloaded.
            #[expect(clippy::panic, reason = "the supervisor reloads the wallet")]
            Err(error) => panic!("{error}"),
        };
        let moved = ListChange::of(wallet, &applied);
        let Ok(entry) = entry.finish(applied.record.as_ref(), moved.as_deref()) else {
            self.diverged = true;
            return Err(Error::TooLarge);
        };
        self.recent.push(entry);
        self.watch.add(applied, wallet, thresholds);
        Ok(())
    }

    /// Adds the project events so far to the pending append; the step continues.
    pub(super) fn add_events_so_far(&mut self) -> Result<(), Error> {
        let Some(wallet) = &self.wallet else {
            return Ok(());
        };
        let data = self.watch.data(wallet);
        self.add_project_events(data)
    }

    /// Ends a step: later changes get project events of their own.
    pub(super) fn end_step(&mut self) -> Result<(), Error> {
        let outcome = self.add_events_of_step();
        self.watch = EventCollector::default();
        outcome
    }

    fn add_events_of_step(&mut self) -> Result<(), Error> {
        let Some(wallet) = &self.wallet else {
            return Ok(());
        };
        let data = self.watch.end(wallet, self.watched_at);
        self.add_project_events(data)
    }

    fn add_project_events(&mut self, data: Vec<EventData>) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        let recorded = self.clock.now();
        for data in data {
            let Some(wallet) = &self.wallet else { break };
            let project_event = data.of(wallet, self.watched_at, recorded);
            if self.pending.project_event(&project_event).is_ok() {
                continue;
            }
            // Two project events of the largest orders do not fit beside their events, so the events are appended
            // first.
            self.append(None);
            if self.diverged || self.pending.project_event(&project_event).is_err() {
                self.diverged = true;
                return Err(Error::TooLarge);
            }
        }
        Ok(())
    }

    /// Checks that the log accepts appends before anything is applied: a refusal leaves memory unchanged.
    fn require_room(&self) -> Result<(), Error> {
        match self.store.log.refusing() {
            None => Ok(()),
            Some(AppendRefusal::Backlog) => Err(Error::Overloaded),
            Some(
                AppendRefusal::DiskFull
                | AppendRefusal::Poisoned
                | AppendRefusal::Closed
                | AppendRefusal::Unreachable
                | AppendRefusal::Fenced,
            ) => Err(Error::Unavailable),
        }
    }
}

pub(super) fn unreadable(wallet: &WalletKey, error: &persistence::Error) -> Error {
    tracing::error!(%error, ?wallet, "A wallet's history cannot be read");
    Error::Unavailable
}
