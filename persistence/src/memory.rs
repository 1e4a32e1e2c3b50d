//! The log's and the books' contracts without a disk, for tests of what stands on them. "Durable" means kept
//! across [`MemoryJournal::reopen`]; durability and folding can be held back, and the log can be
//! made to fail, so that a test can stand between any two moments.
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
    notice::Notice,
};
use parking_lot::{Condvar, Mutex};

use self::books::Folded;
use crate::{
    contract::{
        Awake, Backlog, Books, Done, Error, History, KeptNote, Log, Outcome, Refused, Stored,
        Ticket,
    },
    logged::{Append, Logged, decode_events},
    lookups::{Key, LookUp, Stretch, Value, fresh::Fresh},
    notices::{self, NoticeNumber, OnNotices},
    usage::{Interval, Usage},
};

struct Queued {
    append: Append,
    done: Option<Done>,
}

#[derive(Default)]
struct State {
    /// Taken in and not durable.
    queued: Vec<Queued>,
    /// Everything durable, for reopening. Its length is the last durable ticket, after
    /// [`State::recovered`] of them.
    log: Vec<Append>,
    /// Appends that an earlier opening made durable.
    recovered: usize,
    /// Appends of `log` in `books`.
    folded: usize,
    books: Folded,
    /// All that are durable.
    notices: BTreeMap<(ProjectId, NoticeNumber), Notice>,
    /// Who is told of more.
    on_notices: Vec<OnNotices>,
    /// What was taken in and is not folded.
    backlog: Backlog,
    holding: bool,
    holding_folds: bool,
    /// Someone is answering: another who finds more to answer leaves it to them.
    answering: bool,
    refusing: Option<Refused>,
    /// How much may wait to be folded; `None`: anything.
    backlog_limit: Option<Backlog>,
    failure: Option<Error>,
    /// Wallets that cannot be read.
    damaged: HashSet<WalletKey>,
}

/// A journal in memory.
pub struct MemoryJournal {
    state: Arc<Mutex<State>>,
    /// What the folded look-ups do not have yet.
    fresh: Fresh,
    /// Something became durable, was folded, or failed.
    moved: Condvar,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryJournal {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::default(),
            fresh: Fresh::default(),
            moved: Condvar::new(),
        }
    }

    /// What a restart finds: everything durable, all of it readable.
    pub fn reopen(&self) -> Result<Self, Error> {
        let log = self.state.lock().log.clone();
        let mut state = State {
            recovered: log.len(),
            ..State::default()
        };
        for append in log {
            state.make_durable(append)?;
        }
        state.fold()?;
        Ok(Self {
            state: Arc::new(Mutex::new(state)),
            fresh: Fresh::default(),
            moved: Condvar::new(),
        })
    }

    /// From now on nothing becomes durable.
    pub fn hold(&self) {
        self.state.lock().holding = true;
    }

    /// What was held back becomes durable, and so does what follows.
    pub fn release(&self) {
        self.state.lock().holding = false;
        self.deliver();
    }

    /// From now on nothing is folded.
    pub fn hold_folds(&self) {
        self.state.lock().holding_folds = true;
    }

    /// What was not folded is, and so is what follows.
    pub fn release_folds(&self) {
        self.state.lock().holding_folds = false;
        self.deliver();
    }

    /// Refuses appends for this reason, until told otherwise.
    pub fn refuse(&self, why: Option<Refused>) {
        self.state.lock().refusing = why;
    }

    /// Refuses appends while as much as this waits to be folded.
    pub fn limit_backlog(&self, limit: Backlog) {
        self.state.lock().backlog_limit = Some(limit);
    }

    /// The log fails: all that wait hear "unknown", for good.
    pub fn fail(&self, why: &str) {
        self.state
            .lock()
            .failure
            .get_or_insert_with(|| Error::Io(why.into()));
        self.deliver();
    }

    /// From now on a wallet's state and history cannot be read, or can be again.
    pub fn damage(&self, key: WalletKey, yes: bool) {
        let damaged = &mut self.state.lock().damaged;
        if yes {
            damaged.insert(key);
        } else {
            damaged.remove(&key);
        }
    }

    /// Moves everything on as far as it may go, and answers outside of the lock.
    fn deliver(&self) {
        loop {
            let mut listeners = Vec::new();
            let (batch, outcome) = {
                let mut state = self.state.lock();
                if state.answering {
                    return;
                }
                let known = state.notices.len();
                let (batch, outcome) = state.advance();
                if state.notices.len() > known {
                    listeners.clone_from(&state.on_notices);
                }
                self.fresh.folded(state.folded_ticket().0);
                self.moved.notify_all();
                state.answering = !batch.is_empty();
                (batch, outcome)
            };
            listeners.iter().for_each(|told| told());
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
        match self.damaged.contains(key) {
            true => Err(Error::Damaged("as a test says".into())),
            false => Ok(()),
        }
    }

    fn refusing(&self) -> Option<Refused> {
        self.failure
            .as_ref()
            .map(|_| Refused::Poisoned)
            .or(self.refusing)
            .or_else(|| {
                let limit = self.backlog_limit?;
                self.backlog.reaches(limit).then_some(Refused::Backlog)
            })
    }

    fn durable(&self) -> usize {
        self.log.len().saturating_sub(self.recovered)
    }

    fn folded_ticket(&self) -> Ticket {
        ticket(self.folded.saturating_sub(self.recovered))
    }

    /// Appends ever taken in, also by earlier openings.
    fn taken(&self) -> usize {
        let writing = self
            .queued
            .iter()
            .filter(|queued| queued.append.events() > 0)
            .count();
        self.log.len().saturating_add(writing)
    }

    /// Who is to be answered now, and what.
    fn advance(&mut self) -> (Vec<Done>, Outcome) {
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
            if let Err(error) = self.fold() {
                self.failure = Some(error);
            }
            Outcome::Durable
        };
        (waiting, outcome)
    }

    fn make_durable(&mut self, append: Append) -> Result<(), Error> {
        if append.notices() > 0 {
            let lsn = u64::try_from(self.log.len()).unwrap_or(u64::MAX);
            for (place, logged) in decode_events(append.bytes())?.into_iter().enumerate() {
                if let Logged::Notice(notice) = logged {
                    let number = notices::number(lsn.saturating_add(1), place);
                    self.notices.insert((notice.project, number), notice);
                }
            }
        }
        self.log.push(append);
        Ok(())
    }

    fn fold(&mut self) -> Result<(), Error> {
        if self.holding_folds {
            return Ok(());
        }
        for append in self.log.iter().skip(self.folded) {
            for logged in decode_events(append.bytes())? {
                self.books.fold(logged)?;
            }
            let Backlog { events, bytes } = &mut self.backlog;
            *events = events.saturating_sub(append.events().into());
            *bytes = bytes.saturating_sub(append.bytes().len() as u64);
            self.folded = self.folded.saturating_add(1);
        }
        Ok(())
    }
}

fn ticket(appends: usize) -> Ticket {
    Ticket(u64::try_from(appends).unwrap_or(u64::MAX))
}

impl Log for MemoryJournal {
    fn append(&self, mut append: Append, done: Option<Done>) -> Result<Ticket, Refused> {
        let listed = std::mem::take(&mut append.listed);
        self.fresh.add(&listed);
        let taken = {
            let mut state = self.state.lock();
            let refused = state.refusing();
            if let Some(refused @ (Refused::Poisoned | Refused::Closed)) = refused {
                return Err(refused);
            }
            let Backlog { events, bytes } = &mut state.backlog;
            *events = events.saturating_add(append.events().into());
            *bytes = bytes.saturating_add(append.bytes().len() as u64);
            state.queued.push(Queued { append, done });
            ticket(state.taken().saturating_sub(state.recovered))
        };
        self.fresh.appended(listed, taken.0);
        self.deliver();
        Ok(taken)
    }

    fn durable(&self) -> Ticket {
        ticket(self.state.lock().durable())
    }

    fn refusing(&self) -> Option<Refused> {
        self.state.lock().refusing()
    }

    fn backlog(&self) -> Backlog {
        self.state.lock().backlog
    }

    fn close(&self) -> Result<(), Error> {
        self.state.lock().refusing = Some(Refused::Closed);
        self.release();
        self.state.lock().failure.clone().map_or(Ok(()), Err)
    }
}

impl Books for MemoryJournal {
    fn folded(&self) -> Ticket {
        self.state.lock().folded_ticket()
    }

    fn fold_soon(&self) {
        self.deliver();
    }

    fn settle(&self) -> Result<(), Error> {
        self.deliver();
        let mut state = self.state.lock();
        let target = state.taken();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if state.folded >= target {
                return Ok(());
            }
            self.moved.wait(&mut state);
        }
    }

    /// Everything is replayed here: nobody's snapshot is needed.
    fn follow(&self, _: Weak<dyn Awake>) {}

    fn load(&self, key: &WalletKey) -> Result<Option<Stored>, Error> {
        let state = self.state.lock();
        state.readable(key)?;
        Ok(state.books.wallet(key).map(|wallet| Stored {
            wallet: wallet.clone(),
            history: self.new_history(key),
        }))
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

    fn notes(&self, prefix: &[u8]) -> Result<Vec<KeptNote>, Error> {
        Ok(self.state.lock().books.notes(prefix))
    }

    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error> {
        Ok(self.state.lock().books.usage(product, interval, within))
    }

    fn notices(
        &self,
        project: ProjectId,
        after: NoticeNumber,
        limit: usize,
    ) -> Result<Vec<(NoticeNumber, Notice)>, Error> {
        let state = self.state.lock();
        let from = (project, after.saturating_add(1));
        let behind = state.notices.range(from..=(project, NoticeNumber::MAX));
        let read = |((_, number), notice): (&(_, NoticeNumber), &Notice)| {
            state.readable(&notice.key)?;
            Ok((*number, notice.clone()))
        };
        behind.take(limit).map(read).collect()
    }

    fn last_notice(&self) -> NoticeNumber {
        let lsn = self.state.lock().log.len();
        notices::last_of(u64::try_from(lsn).unwrap_or(u64::MAX))
    }

    fn on_notices(&self, told: OnNotices) {
        self.state.lock().on_notices.push(told);
    }

    fn stretch(
        &self,
        look_up: LookUp,
        stretch: &Stretch,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, Error> {
        let state = self.state.lock();
        let entries = state.books.entries(look_up);
        let entry = |(key, value): (&Key, &Value)| Ok((key.clone(), value.clone()));
        let over =
            |stored: &mut dyn Iterator<Item = _>| self.fresh.over(look_up, stretch, limit, stored);
        match stretch {
            Stretch::From(from) => over(&mut entries.filter(|(key, _)| *key >= from).map(entry)),
            Stretch::Before(to) => over(&mut entries.rev().filter(|(key, _)| *key < to).map(entry)),
        }
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error> {
        if let Some(fresh) = self.fresh.find(look_up, key) {
            return Ok(fresh);
        }
        let state = self.state.lock();
        let mut entries = state.books.entries(look_up);
        let found = entries.find(|(known, _)| ***known == *key);
        Ok(found.map(|(_, value)| value.clone()))
    }
}

struct MemoryHistory {
    // Weak: a history must not keep the books alive after their journal.
    state: Weak<Mutex<State>>,
    key: WalletKey,
}

impl MemoryHistory {
    fn records<T>(&self, read: impl FnOnce(&[Record]) -> T) -> Result<T, Error> {
        let gone = || Error::Unusable("the journal is closed".into());
        let state = self.state.upgrade().ok_or_else(gone)?;
        let state = state.lock();
        state.readable(&self.key)?;
        Ok(read(state.books.records(&self.key)))
    }
}

impl History for MemoryHistory {
    fn folded(&self) -> u64 {
        self.state.upgrade().map_or(0, |state| {
            let state = state.lock();
            state
                .books
                .wallet(&self.key)
                .map_or(0, |wallet| wallet.version)
        })
    }

    fn find(&self, hash: u64, matches: &dyn Fn(&Record) -> bool) -> Result<Option<Record>, Error> {
        let found = |record: &&Record| {
            record
                .lookup()
                .is_some_and(|lookup| lookup.hash(&self.key) == hash)
                && matches(record)
        };
        self.records(|records| records.iter().rev().find(found).cloned())
    }

    fn before(&self, seq: u64, limit: usize) -> Result<Vec<Record>, Error> {
        self.records(|records| {
            let older = records.iter().rev().filter(|record| record.seq < seq);
            older.take(limit).cloned().collect()
        })
    }
}
