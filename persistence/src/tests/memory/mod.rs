//! A journal without a disk, for tests of the layers above; it keeps the contracts of log and books. "Durable" means
//! kept across [`MemoryJournal::reopen`]; durability and checkpoints can be held back, and the log can be made to fail,
//! so that a test can stop between any two moments.
//!
//! Waiting callers are answered on the thread that made their append durable: the one that
//! appended, released or settled.

mod books;

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Weak},
};

use domain::{
    Timestamp,
    catalog::Document,
    history::Record,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
    wallet::Wallet,
};
use parking_lot::{Condvar, Mutex};

use self::books::MemoryBooks;
use crate::{
    contract::{
        Awake, Backlog, Books, EventNumber, History, LoadedWallet, Log, OnEvents, OnOutcome,
        StoredNote,
        event_number::{last_of, number},
    },
    error::{AppendRefusal, Error, Outcome, Ticket},
    format::append::{Append, LogEvent, PendingChanges, decode_events},
    lookups::{EachEntry, EntryBatch, Key, LookUp, LookUpRange, Value, overlay::Overlay},
    usage::{Interval, Usage, pending::PendingSales},
};

struct Queued {
    append: Append,
    done: Option<OnOutcome>,
}

#[derive(Default)]
struct State {
    /// Appends that were taken in and are not durable.
    queued: Vec<Queued>,
    /// Everything durable, for reopening. Its length is the last durable ticket, after [`State::recovered`] of them.
    log: Vec<Append>,
    /// Appends that an earlier opening made durable.
    recovered: usize,
    /// Appends of `log` in `books`.
    applied: usize,
    books: MemoryBooks,
    project_events: BTreeMap<(ProjectId, EventNumber), ProjectEvent>,
    on_project_events: Vec<OnEvents>,
    /// Appends that were taken in and are not applied.
    backlog: Backlog,
    holding: bool,
    holding_checkpoints: bool,
    /// A thread is answering: another that finds more to answer leaves it to that one.
    answering: bool,
    refusing: Option<AppendRefusal>,
    /// How much may wait to be applied; `None`: no limit.
    backlog_limit: Option<Backlog>,
    failure: Option<Error>,
    /// Wallets that a test made unreadable.
    damaged: HashSet<WalletKey>,
}

/// A journal in memory.
pub struct MemoryJournal {
    state: Arc<Mutex<State>>,
    /// Look-up entries that are not applied yet.
    overlay: Overlay,
    sales: PendingSales,
    /// Notified when something became durable, was applied, or failed.
    moved: Condvar,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryJournal {
    /// An empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::default(),
            overlay: Overlay::default(),
            sales: PendingSales::default(),
            moved: Condvar::new(),
        }
    }

    /// What a restart finds: everything durable, all of it readable.
    /// # Errors
    /// A durable event does not replay.
    pub fn reopen(&self) -> Result<Self, Error> {
        let log = self.state.lock().log.clone();
        let mut state = State {
            recovered: log.len(),
            ..State::default()
        };
        for append in log {
            state.make_durable(append)?;
        }
        state.apply()?;
        Ok(Self {
            state: Arc::new(Mutex::new(state)),
            overlay: Overlay::default(),
            sales: PendingSales::default(),
            moved: Condvar::new(),
        })
    }

    /// Holds back: from now on nothing becomes durable.
    pub fn hold(&self) {
        self.state.lock().holding = true;
    }

    /// Makes what was held back durable, and what follows.
    pub fn release(&self) {
        self.state.lock().holding = false;
        self.deliver();
    }

    /// From now on nothing is applied.
    pub fn hold_checkpoints(&self) {
        self.state.lock().holding_checkpoints = true;
    }

    /// Applies what was held back, and what follows.
    pub fn release_checkpoints(&self) {
        self.state.lock().holding_checkpoints = false;
        self.deliver();
    }

    /// Refuses appends for this reason; `None` ends it.
    pub fn refuse(&self, why: Option<AppendRefusal>) {
        self.state.lock().refusing = why;
    }

    /// Refuses appends while as much as this waits to be applied.
    pub fn limit_backlog(&self, limit: Backlog) {
        self.state.lock().backlog_limit = Some(limit);
    }

    /// Makes the log fail for good: all waiting callers hear [`Outcome::Unknown`].
    pub fn fail(&self, why: &str) {
        self.state
            .lock()
            .failure
            .get_or_insert_with(|| Error::Io(why.into()));
        self.deliver();
    }

    /// Makes a wallet's state and history unreadable or, without `yes`, readable again.
    pub fn damage(&self, key: WalletKey, yes: bool) {
        let damaged = &mut self.state.lock().damaged;
        if yes {
            damaged.insert(key);
        } else {
            damaged.remove(&key);
        }
    }

    /// Makes durable and applies as much as is allowed, and answers outside of the lock.
    fn deliver(&self) {
        loop {
            let mut listeners = Vec::new();
            let (batch, outcome) = {
                let mut state = self.state.lock();
                if state.answering {
                    return;
                }
                let events_before = state.project_events.len();
                let (batch, outcome) = state.advance();
                if state.project_events.len() > events_before {
                    listeners.clone_from(&state.on_project_events);
                }
                self.overlay.applied(state.applied_ticket().0);
                self.sales.applied(state.applied_ticket().0);
                self.moved.notify_all();
                state.answering = !batch.is_empty();
                (batch, outcome)
            };
            listeners.iter().for_each(|listener| listener());
            if batch.is_empty() {
                return;
            }
            for done in batch {
                done(outcome);
            }
            self.state.lock().answering = false;
        }
    }
}

impl State {
    fn readable(&self, key: &WalletKey) -> Result<(), Error> {
        if self.damaged.contains(key) {
            return Err(Error::Damaged("a test damaged it".into()));
        }
        Ok(())
    }

    fn refusing(&self) -> Option<AppendRefusal> {
        self.failure
            .as_ref()
            .map(|_| AppendRefusal::Poisoned)
            .or(self.refusing)
            .or_else(|| {
                let limit = self.backlog_limit?;
                self.backlog
                    .reaches(limit)
                    .then_some(AppendRefusal::Backlog)
            })
    }

    fn durable(&self) -> usize {
        self.log.len().saturating_sub(self.recovered)
    }

    fn applied_ticket(&self) -> Ticket {
        ticket(self.applied.saturating_sub(self.recovered))
    }

    /// Appends ever taken in, also by earlier openings.
    fn appends(&self) -> usize {
        let writing = self
            .queued
            .iter()
            .filter(|queued| queued.append.events() > 0)
            .count();
        self.log.len() + writing
    }

    /// Makes durable and applies as much as is allowed; returns the callbacks to call, and their outcome.
    fn advance(&mut self) -> (Vec<OnOutcome>, Outcome) {
        let mut waiting = Vec::new();
        let outcome = if self.failure.is_some() {
            waiting.extend(self.queued.drain(..).filter_map(|queued| queued.done));
            Outcome::Unknown
        } else {
            if !self.holding {
                for queued in std::mem::take(&mut self.queued) {
                    if queued.append.events() > 0
                        && let Err(error) = self.make_durable(queued.append)
                    {
                        self.failure = Some(error);
                    }
                    waiting.extend(queued.done);
                }
            }
            if let Err(error) = self.apply() {
                self.failure = Some(error);
            }
            Outcome::Durable
        };
        (waiting, outcome)
    }

    fn make_durable(&mut self, append: Append) -> Result<(), Error> {
        if append.project_events() > 0 {
            let lsn = u64::try_from(self.log.len()).unwrap_or(u64::MAX);
            for (place, log_event) in decode_events(append.bytes())?.into_iter().enumerate() {
                if let LogEvent::ProjectEvent(project_event) = log_event {
                    let number = number(lsn.saturating_add(1), place);
                    self.project_events
                        .insert((project_event.project, number), project_event);
                }
            }
        }
        self.log.push(append);
        Ok(())
    }

    fn apply(&mut self) -> Result<(), Error> {
        if self.holding_checkpoints {
            return Ok(());
        }
        for append in self.log.iter().skip(self.applied) {
            for log_event in decode_events(append.bytes())? {
                self.books.apply(log_event)?;
            }
            let Backlog { events, bytes } = &mut self.backlog;
            *events = events.saturating_sub(append.events().into());
            *bytes = bytes.saturating_sub(append.bytes().len() as u64);
            self.applied += 1;
        }
        Ok(())
    }
}

fn ticket(appends: usize) -> Ticket {
    Ticket(u64::try_from(appends).unwrap_or(u64::MAX))
}

impl Log for MemoryJournal {
    fn append(&self, mut append: Append, done: Option<OnOutcome>) -> Result<Ticket, AppendRefusal> {
        let PendingChanges { listed, sold } = append.take_pending();
        self.overlay.add(&listed);
        let slot = self.sales.add(&sold);
        let ticket_taken = {
            let mut state = self.state.lock();
            let refused = state.refusing();
            if let Some(
                refused @ (AppendRefusal::Poisoned | AppendRefusal::Closed | AppendRefusal::Fenced),
            ) = refused
            {
                return Err(refused);
            }
            let Backlog { events, bytes } = &mut state.backlog;
            *events += u64::from(append.events());
            *bytes += append.bytes().len() as u64;
            state.queued.push(Queued { append, done });
            let ticket_taken = ticket(state.appends().saturating_sub(state.recovered));
            slot.set(ticket_taken.0);
            ticket_taken
        };
        self.overlay.appended(listed, ticket_taken.0);
        self.deliver();
        Ok(ticket_taken)
    }

    fn durable(&self) -> Ticket {
        ticket(self.state.lock().durable())
    }

    /// One that cannot be reached may be led by another, for all that it knows.
    fn can_serve_reads(&self, ticket: Ticket) -> bool {
        let in_doubt = matches!(
            self.refusing(),
            Some(AppendRefusal::Unreachable | AppendRefusal::Fenced)
        );
        !in_doubt && self.durable() >= ticket
    }

    fn leads(&self) -> bool {
        self.refusing() != Some(AppendRefusal::Fenced)
    }

    fn refusing(&self) -> Option<AppendRefusal> {
        self.state.lock().refusing()
    }

    fn backlog(&self) -> Backlog {
        self.state.lock().backlog
    }

    fn close(&self) -> Result<(), Error> {
        self.state.lock().refusing = Some(AppendRefusal::Closed);
        self.release();
        self.state.lock().failure.clone().map_or(Ok(()), Err)
    }
}

impl Books for MemoryJournal {
    fn applied(&self) -> Ticket {
        self.state.lock().applied_ticket()
    }

    fn checkpoint_soon(&self) {
        self.deliver();
    }

    fn flush(&self) -> Result<(), Error> {
        self.deliver();
        let mut state = self.state.lock();
        let target = state.appends();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if state.applied >= target {
                return Ok(());
            }
            self.moved.wait(&mut state);
        }
    }

    /// Everything is replayed here: no snapshots are needed.
    fn follow(&self, _: Weak<dyn Awake>) {}

    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error> {
        let state = self.state.lock();
        state.readable(key)?;
        Ok(state.books.wallet(key).map(|wallet| LoadedWallet {
            wallet: wallet.clone(),
            history: self.new_history(key),
        }))
    }

    fn wallets_after(&self, after: Option<&WalletKey>, limit: usize) -> Result<Vec<Wallet>, Error> {
        Ok(self.state.lock().books.wallets_after(after, limit))
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        Arc::new(MemoryHistory {
            state: Arc::downgrade(&self.state),
            key: *key,
        })
    }

    fn documents(&self) -> Result<Vec<Document>, Error> {
        Ok(self.state.lock().books.documents())
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, Error> {
        Ok(self.state.lock().books.notes(prefix))
    }

    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error> {
        let state = self.state.lock();
        let stored = || Ok(state.books.usage(product, interval, within));
        self.sales.merged((product, interval), within, stored)
    }

    fn usage_kept_after(&self, _: ProductId, _: Interval) -> Result<Option<Timestamp>, Error> {
        Ok(None)
    }

    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, Error> {
        let state = self.state.lock();
        let from = (project, after.saturating_add(1));
        let behind = state
            .project_events
            .range(from..=(project, EventNumber::MAX));
        let read = |((_, number), project_event): (&(_, EventNumber), &ProjectEvent)| {
            state.readable(&project_event.key)?;
            Ok((*number, project_event.clone()))
        };
        behind.take(limit).map(read).collect()
    }

    fn last_project_event(&self) -> EventNumber {
        let lsn = self.state.lock().log.len();
        last_of(u64::try_from(lsn).unwrap_or(u64::MAX))
    }

    fn on_project_events(&self, listener: OnEvents) {
        self.state.lock().on_project_events.push(listener);
    }

    fn range(
        &self,
        look_up: LookUp,
        range: &LookUpRange,
        limit: usize,
    ) -> Result<EntryBatch, Error> {
        let state = self.state.lock();
        let books = &state.books;
        let stored = |each: &mut EachEntry<'_>| {
            let mut take = |(key, value): (&Key, &Value)| each(key, value);
            match range {
                LookUpRange::From(from) => {
                    let _ = books.entries(look_up, from.clone()..).all(&mut take);
                }
                LookUpRange::Before(to) => {
                    let mut entries = books.entries(look_up, ..to.clone()).rev();
                    let _ = entries.all(&mut take);
                }
            }
            Ok(())
        };
        self.overlay.merged(look_up, range, limit, stored)
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error> {
        if let Some(value) = self.overlay.find(look_up, key) {
            return Ok(value);
        }
        let state = self.state.lock();
        Ok(state.books.find(look_up, key).cloned())
    }
}

struct MemoryHistory {
    // Weak: a history must not keep the books alive after their journal.
    state: Weak<Mutex<State>>,
    key: WalletKey,
}

impl MemoryHistory {
    fn records<T>(&self, read: impl FnOnce(&[Record]) -> T) -> Result<T, Error> {
        let closed = || Error::Unusable("the journal is closed".into());
        let state = self.state.upgrade().ok_or_else(closed)?;
        let state = state.lock();
        state.readable(&self.key)?;
        Ok(read(state.books.records(&self.key)))
    }
}

impl History for MemoryHistory {
    fn applied(&self) -> u64 {
        self.state.upgrade().map_or(0, |state| {
            let state = state.lock();
            state
                .books
                .wallet(&self.key)
                .map_or(0, |wallet| wallet.version)
        })
    }

    fn find(&self, hash: u64, matches: &dyn Fn(&Record) -> bool) -> Result<Option<Record>, Error> {
        let is_match = |record: &&Record| {
            record
                .lookup()
                .is_some_and(|lookup| lookup.hash(&self.key) == hash)
                && matches(record)
        };
        self.records(|records| records.iter().rev().find(is_match).cloned())
    }

    fn before(&self, seq: u64, limit: usize) -> Result<Vec<Record>, Error> {
        self.records(|records| {
            let older = records.iter().rev().filter(|record| record.seq < seq);
            older.take(limit).cloned().collect()
        })
    }
}
