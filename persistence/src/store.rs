//! The journal on sled: puts the parts together, and opens and closes them in the right order. Each
//! part documents its own promises.

use std::{
    sync::{Arc, Weak},
    thread::JoinHandle,
};

use domain::{
    Timestamp,
    catalog::Document,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
};
use parking_lot::{Mutex, RwLock};

use crate::{
    backup::{self, BackUp, BackupSummary, OnProgress},
    checkpoint, commit,
    contract::{
        AppendRefusal, Awake, Backlog, Books, Error, History, LoadedWallet, Log, OnOutcome,
        StoredNote, Ticket,
    },
    database::{self, Database, caught, failed},
    fold::{FoldedState, Reader},
    format::decode_notice,
    frame::FramePosition,
    guard,
    latency::Commits,
    lock::Directory,
    log_event::Append,
    lookups::{Key, LookUp, LookUpRange, Value},
    options::Options,
    progress::LogProgress,
    project_events::{self, EventNumber, OnEvents},
    recovery::{self, JOURNAL},
    rounds::{self, StopSignal},
    shared::{Disk, Shared, start},
    space::Space,
    usage::{Interval, Usage},
    watermark::Watermark,
};

/// The log and the books on this machine's disk.
pub struct SledJournal {
    shared: Arc<Shared>,
    /// `None` once closed.
    disk: RwLock<Option<Arc<Disk>>>,
    stop_rounds: Arc<StopSignal>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl SledJournal {
    /// Opens the data directory, recovers, and starts the store's threads. Blocks for as long as reading the unfolded
    /// part of the log takes.
    ///
    /// # Errors
    ///
    /// [`Error::Unusable`] when the directory is in use, half restored or cannot be written durably,
    /// [`Error::Damaged`] when what is stored is not whole, [`Error::Io`] when the disk fails.
    pub fn open(options: Options) -> Result<Self, Error> {
        match guard::install() {
            Err(why) if options.allow_unsynced => {
                tracing::warn!(error = %why, "Running with unsynced writes: they may not survive a power cut");
            }
            installed => installed?,
        }
        let directory = Directory::lock(&options.dir)?;
        directory.check_whole()?;
        let space = Space::watch(directory.root(), options.min_free_bytes)?;
        let database = database::open(
            &directory,
            options.cache_bytes,
            Some(options.flush_every_ms),
        )?;
        let watermark = Watermark::open(&directory.watermark())?;
        let (disk, head) = recover(&options, directory, database, &watermark)?;
        let progress = LogProgress::recovered(head, Vec::new());
        let shared = Arc::new(Shared::new(options, progress, space));
        let journal = Self {
            shared,
            disk: RwLock::new(None),
            stop_rounds: Arc::default(),
            threads: Mutex::default(),
        };
        journal.start(disk, watermark)?;
        Ok(journal)
    }

    /// Passes every wallet and its records to `reader`, once all of it is folded. Nobody may append meanwhile.
    ///
    /// # Errors
    ///
    /// What is stored cannot be read, or the reader ended it.
    pub fn read_all(&self, reader: &mut dyn Reader) -> Result<(), Error> {
        self.settle()?;
        let disk = self.disk()?;
        caught(|| disk.folded.read_all(reader))
    }

    fn start(&self, disk: Disk, watermark: Watermark) -> Result<(), Error> {
        let disk = Arc::new(disk);
        *self.disk.write() = Some(Arc::clone(&disk));
        let stop = Arc::clone(&self.stop_rounds);
        let mut threads = self.threads.lock();
        threads.push(start("log", &self.shared, &disk, commit::run)?);
        threads.push(start("checkpoint", &self.shared, &disk, checkpoint::run)?);
        threads.push(start(
            "rounds",
            &self.shared,
            &disk,
            move |shared, disk| rounds::run(shared, disk, &stop, watermark),
        )?);
        Ok(())
    }

    fn disk(&self) -> Result<Arc<Disk>, Error> {
        self.disk
            .read()
            .clone()
            .ok_or_else(|| Error::Unusable("the journal is closed".into()))
    }

    /// Flushes and releases the disk, after all threads ended.
    fn let_go(&self) -> Result<(), Error> {
        let Some(disk) = self.disk.write().take() else {
            return Ok(());
        };
        if let Some(failure) = self.shared.failure() {
            // The reference leaked by the failure keeps sled from being dropped.
            return Err(failure);
        }
        let database = &disk.database;
        let result = database
            .sled
            .flush()
            .map_err(|error| failed("closing", &error))
            .and_then(|_| {
                let synced = database.file.sync_data();
                synced.map_err(|error| Error::Io(format!("closing: {error}")))
            });
        if let Err(error) = &result {
            self.shared.fail(&disk, error);
            self.shared.all_answered();
        }
        result
    }
}

/// Checks the log, repairs what a crash left, folds what was not folded, and says where it stands.
fn recover(
    options: &Options,
    directory: Directory,
    database: Database,
    watermark: &Watermark,
) -> Result<(Disk, FramePosition), Error> {
    let Database { sled, .. } = &database;
    let (journal, folded, scan) = caught(|| {
        let journal = sled
            .open_tree(JOURNAL)
            .map_err(|error| failed("the log", &error))?;
        let scan = recovery::scan(sled, &journal, watermark.place())?;
        recovery::repair(sled, &journal, &scan)?;
        let folded = FoldedState::open(sled, options.filter_bytes)?;
        Ok((journal, folded, scan))
    })?;
    tracing::info!(
        log.lsn = scan.head.lsn,
        log.folded_lsn = scan.folded.lsn,
        log.unfolded_frames = scan.frames.len(),
        "The log is whole"
    );
    let disk = Disk {
        database,
        journal,
        folded,
        directory,
    };
    if let Err(error) = caught(|| checkpoint::recovered(options, &disk, &scan.frames)) {
        // As with any failed write: sled is not dropped, for that would write once more.
        std::mem::forget(disk.database.sled.clone());
        return Err(error);
    }
    Ok((disk, scan.head))
}

impl Log for SledJournal {
    fn append(&self, mut append: Append, done: Option<OnOutcome>) -> Result<Ticket, AppendRefusal> {
        let shared = &self.shared;
        let listed = std::mem::take(&mut append.listed);
        shared.fresh.add(&listed);
        let ticket = shared.queue.push(&append, done, || {
            shared.progress.taken(append.events(), append.bytes().len());
        })?;
        shared.fresh.appended(listed, ticket.0);
        Ok(ticket)
    }

    fn durable(&self) -> Ticket {
        Ticket(self.shared.progress.durable())
    }

    fn refusing(&self) -> Option<AppendRefusal> {
        let shared = &self.shared;
        if let Some(stopped) = shared.queue.stopped() {
            return Some(stopped);
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
        let mut threads = self.threads.lock();
        let mut threads = threads.drain(..);
        // The log's thread first: it drains the queue, and the watermark is written after it.
        if let Some(log) = threads.next() {
            join(log);
        }
        self.shared.progress.stop();
        self.stop_rounds.stop();
        threads.for_each(join);
        self.let_go()
    }
}

impl Books for SledJournal {
    fn folded(&self) -> Ticket {
        Ticket(self.shared.progress.folded())
    }

    fn fold_soon(&self) {
        self.shared.progress.ask(self.shared.queue.last());
    }

    fn settle(&self) -> Result<(), Error> {
        let settled = self.shared.progress.settle(self.shared.queue.last());
        match self.shared.failure() {
            Some(failure) => Err(failure),
            None if settled => Ok(()),
            None => Err(Error::Unusable("the journal is closed".into())),
        }
    }

    fn follow(&self, awake: Weak<dyn Awake>) {
        self.shared.follow(awake);
    }

    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error> {
        let disk = self.disk()?;
        caught(|| disk.folded.load(key))
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        match self.disk() {
            Ok(disk) => disk.folded.new_history(key),
            Err(error) => Arc::new(Gone(error)),
        }
    }

    fn documents(&self) -> Result<Vec<Document>, Error> {
        let disk = self.disk()?;
        caught(|| disk.folded.documents())
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, Error> {
        let disk = self.disk()?;
        caught(|| disk.folded.notes(prefix))
    }

    fn stretch(
        &self,
        look_up: LookUp,
        stretch: &LookUpRange,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, Error> {
        let disk = self.disk()?;
        caught(|| {
            let stored = disk.folded.stretch(look_up, stretch);
            self.shared.fresh.over(look_up, stretch, limit, stored)
        })
    }

    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error> {
        let disk = self.disk()?;
        caught(|| disk.folded.usage(product, interval, within))
    }

    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, Error> {
        let disk = self.disk()?;
        let stored = || caught(|| disk.folded.project_events(project, after, limit));
        let all = self
            .shared
            .project_events
            .over(project, after, limit, stored)?;
        let read = |(number, bytes): (_, Box<[u8]>)| Ok((number, decode_notice(project, &bytes)?));
        all.into_iter().map(read).collect()
    }

    fn back_up(&self, what: &BackUp, told: OnProgress<'_>) -> Result<BackupSummary, Error> {
        let disk = self.disk()?;
        caught(|| backup::back_up(&self.shared, &disk, what, told))
    }

    fn kept_for_backup(&self) -> u64 {
        self.shared.retention.bytes()
    }

    fn last_notice(&self) -> EventNumber {
        project_events::last_of(self.shared.progress.head().lsn)
    }

    fn on_notices(&self, told: OnEvents) {
        self.shared.project_events.listen(told);
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error> {
        // Unfolded entries first: one that is folded in between is then stored.
        if let Some(fresh) = self.shared.fresh.find(look_up, key) {
            return Ok(fresh);
        }
        let disk = self.disk()?;
        caught(|| disk.folded.find(look_up, key))
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
    fn folded(&self) -> u64 {
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
