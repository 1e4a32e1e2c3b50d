//! The journal on sled: puts the parts together, and opens and closes them in the right order. Each
//! part documents its own promises.

mod open;

pub use open::{DirectoryPosition, went_elsewhere};

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    thread::JoinHandle,
};

use domain::{
    Timestamp,
    catalog::Document,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
    wallet::Wallet,
};
use parking_lot::{Mutex, RwLock};

use crate::{
    backup::{self, Repository},
    books::{
        AppliedState, Reader, catalog, disk::DiskBooks, notes, project_events, read_all, usage,
    },
    contract::{
        Awake, BackUp, Backlog, BackupSummary, Books, EventNumber, History, LoadedWallet, Log,
        OnEvents, OnOutcome, OnProgress, SnapshotOrder, StoredNote, event_number::last_of,
        latency::Commits,
    },
    error::{AppendRefusal, Error, Ticket},
    format::{
        append::{Append, PendingChanges},
        decode_project_event,
    },
    log::{rounds::StopSignal, shared::Shared},
    lookups::{EntryBatch, LookUp, LookUpRange, Value},
    sled_error::caught,
    usage::{Interval, Usage},
};

/// The log and the books on this machine's disk.
pub struct SledJournal {
    shared: Arc<Shared>,
    /// `None` once closed.
    books: RwLock<Option<Arc<DiskBooks>>>,
    stop_rounds: Arc<StopSignal>,
    log: Mutex<Option<JoinHandle<()>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl SledJournal {
    /// Passes every wallet and its records to `reader`, once all of it is applied. Nobody may append until it returns.
    /// # Errors
    /// What is stored cannot be read, or the reader ended it.
    pub fn read_all(&self, reader: &mut dyn Reader) -> Result<(), Error> {
        self.flush()?;
        self.read(|applied| read_all::read_all(applied.store(), reader))
    }

    /// Makes a copy of the books alone, for others that follow the same log, while this goes on.
    /// # Errors
    /// Another copy is being made, it cannot be written or was overtaken by later ones, or `on_progress` ended it.
    pub fn snapshot(
        &self,
        repository: &dyn Repository,
        what: &SnapshotOrder,
        on_progress: OnProgress<'_>,
    ) -> Result<BackupSummary, Error> {
        let books = self.books()?;
        caught(|| backup::snapshot(&self.shared, &books, repository, what, on_progress))
    }

    /// Runs something on a thread of its own until the journal is closed, which waits for its end.
    /// # Errors
    /// [`Error::Io`] when no thread can be started.
    pub fn run_beside(
        &self,
        name: &str,
        work: impl FnOnce(&StopSignal) + Send + 'static,
    ) -> Result<(), Error> {
        let stop = Arc::clone(&self.stop_rounds);
        let thread = std::thread::Builder::new().name(name.into());
        let thread = thread.spawn(move || work(&stop));
        let thread = thread.map_err(|error| Error::Io(format!("no thread: {error}")))?;
        self.threads.lock().push(thread);
        Ok(())
    }

    fn books(&self) -> Result<Arc<DiskBooks>, Error> {
        self.books
            .read()
            .clone()
            .ok_or_else(|| Error::Unusable("the journal is closed".into()))
    }

    fn read<T>(&self, read: impl FnOnce(&AppliedState) -> Result<T, Error>) -> Result<T, Error> {
        let books = self.books()?;
        caught(|| read(&books.applied))
    }

    /// Flushes and releases the disk, after all threads ended.
    fn let_go(&self) -> Result<(), Error> {
        let Some(books) = self.books.write().take() else {
            return Ok(());
        };
        if let Some(failure) = self.shared.failure() {
            // The reference leaked by the failure keeps sled from being dropped.
            return Err(failure);
        }
        let database = &books.disk.database;
        let result = database.flush("closing");
        let result = result.and_then(|()| database.sync("closing"));
        if let Err(error) = &result {
            self.shared.fail(&books.disk, error);
            self.shared.all_answered();
        }
        result
    }
}

impl Log for SledJournal {
    fn append(&self, mut append: Append, done: Option<OnOutcome>) -> Result<Ticket, AppendRefusal> {
        let shared = &self.shared;
        let PendingChanges { listed, sold } = append.take_pending();
        shared.overlay.add(&listed);
        let slot = shared.sales.add(&sold);
        let ticket = shared.queue.push(&append, done, |ticket| {
            slot.set(ticket);
            shared
                .progress
                .count_append(append.events(), append.bytes().len());
        })?;
        shared.overlay.appended(listed, ticket.0);
        Ok(ticket)
    }

    fn durable(&self) -> Ticket {
        Ticket(self.shared.progress.durable())
    }

    fn can_serve_reads(&self, ticket: Ticket) -> bool {
        self.durable() >= ticket && self.shared.may_answer()
    }

    fn leads(&self) -> bool {
        self.shared.queue.stopped() != Some(AppendRefusal::Fenced) && self.shared.may_answer()
    }

    fn refusing(&self) -> Option<AppendRefusal> {
        let shared = &self.shared;
        if let Some(stopped) = shared.queue.stopped() {
            return Some(stopped);
        }
        if shared.queue.is_unreachable() {
            return Some(AppendRefusal::Unreachable);
        }
        if shared.space.low() {
            return Some(AppendRefusal::DiskFull);
        }
        let behind = shared.progress.backlog();
        let full = behind.reaches(shared.options.backlog_limit)
            || shared.queue.bytes() >= shared.options.queue_bytes;
        full.then_some(AppendRefusal::Backlog)
    }

    fn backlog(&self) -> Backlog {
        self.shared.progress.backlog()
    }

    fn commits(&self) -> Commits {
        self.shared.latency.commits()
    }

    fn close(&self) -> Result<(), Error> {
        self.shared.queue.stop(AppendRefusal::Closed);
        // First: it drains the queue, and the watermark is written after it.
        if let Some(log) = self.log.lock().take() {
            join(log);
        }
        if self.shared.leaving.load(Ordering::Acquire) {
            // There will be no other place to read it from.
            self.flush()?;
        }
        self.shared.progress.stop();
        self.stop_rounds.stop();
        self.threads.lock().drain(..).for_each(join);
        self.let_go()
    }
}

impl Books for SledJournal {
    fn applied(&self) -> Ticket {
        Ticket(self.shared.progress.applied())
    }

    fn checkpoint_soon(&self) {
        self.shared.progress.ask(self.shared.queue.last());
    }

    fn flush(&self) -> Result<(), Error> {
        let is_done = self.shared.progress.wait_for(self.shared.queue.last());
        match self.shared.failure() {
            Some(failure) => Err(failure),
            None if is_done => Ok(()),
            None => Err(Error::Unusable("the journal is closed".into())),
        }
    }

    fn follow(&self, awake: Weak<dyn Awake>) {
        self.shared.follow(awake);
    }

    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error> {
        self.read(|applied| applied.load(key))
    }

    fn wallets_after(&self, after: Option<&WalletKey>, limit: usize) -> Result<Vec<Wallet>, Error> {
        self.read(|applied| applied.wallets_after(after, limit))
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        match self.books() {
            Ok(books) => books.applied.new_history(key),
            Err(error) => Arc::new(Gone(error)),
        }
    }

    fn documents(&self) -> Result<Vec<Document>, Error> {
        self.read(|applied| catalog::documents(applied.store()))
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, Error> {
        self.read(|applied| notes::with_prefix(applied.store(), prefix))
    }

    fn range(
        &self,
        look_up: LookUp,
        range: &LookUpRange,
        limit: usize,
    ) -> Result<EntryBatch, Error> {
        self.read(|applied| {
            let overlay = &self.shared.overlay;
            let stored = applied.store().look_up(look_up);
            overlay.merged(look_up, range, limit, |each| stored.range(range, each))
        })
    }

    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error> {
        self.read(|applied| {
            let stored = || usage::read(applied.store(), product, interval, within);
            let sales = &self.shared.sales;
            sales.merged((product, interval), within, stored)
        })
    }

    fn usage_kept_after(
        &self,
        product: ProductId,
        interval: Interval,
    ) -> Result<Option<Timestamp>, Error> {
        self.read(|applied| usage::kept_after(applied.store(), product, interval))
    }

    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, Error> {
        let all = self.read(|applied| {
            let stored = || project_events::after(applied.store(), project, after, limit);
            let pending = &self.shared.project_events;
            pending.merged(project, after, limit, stored)
        })?;
        let read =
            |(number, bytes): (_, Box<[u8]>)| Ok((number, decode_project_event(project, &bytes)?));
        all.into_iter().map(read).collect()
    }

    fn back_up(&self, what: &BackUp, on_progress: OnProgress<'_>) -> Result<BackupSummary, Error> {
        let books = self.books()?;
        caught(|| backup::back_up(&self.shared, &books, what, on_progress))
    }

    fn kept_for_backup(&self) -> u64 {
        self.books().map_or(0, |books| books.retention.bytes())
    }

    fn last_project_event(&self) -> EventNumber {
        last_of(self.shared.progress.head().lsn)
    }

    fn on_project_events(&self, listener: OnEvents) {
        self.shared.project_events.listen(listener);
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error> {
        // Unfolded entries first: one that is applied in between is then stored.
        if let Some(value) = self.shared.overlay.find(look_up, key) {
            return Ok(value);
        }
        self.read(|applied| applied.store().look_up(look_up).get(key))
    }
}

/// Waits for a thread, whose panic was turned into a failure inside it. A callback that held the last reference to
/// the journal closes it from the log's own thread, which must not wait for itself.
fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        let _ended = thread.join();
    }
}

impl Drop for SledJournal {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::error!(error = %error, "The journal did not close cleanly");
        }
    }
}

/// The history of a wallet asked for after the journal was closed.
struct Gone(Error);

impl History for Gone {
    fn applied(&self) -> u64 {
        0
    }

    fn find(
        &self,
        _: u64,
        _: &dyn Fn(&domain::history::Record) -> bool,
    ) -> Result<Option<domain::history::Record>, Error> {
        Err(self.0.clone())
    }

    fn before(&self, _: u64, _: usize) -> Result<Vec<domain::history::Record>, Error> {
        Err(self.0.clone())
    }
}
