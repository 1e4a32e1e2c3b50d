//! How a journal is opened over what keeps its log, and what starts with it.

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use parking_lot::{Mutex, RwLock};

use super::SledJournal;
use crate::{
    books::{checkpoint, disk::DiskBooks},
    contract::{Books as _, Log},
    error::Error,
    frames::{FramePosition, Frames, SharedFrames, SledFrames},
    log::{
        commit,
        database::{self, Database},
        guard,
        lock::{DATABASE, Directory},
        progress::LogProgress,
        queue::Queue,
        rounds,
        shared::{Shared, start},
        space::Space,
        watermark::Watermark,
    },
    options::Options,
    postgres::Membership,
    sled_error::caught,
};

/// Bytes of a batch whose frames are sent to a database together.
const SENT_BYTES: usize = 512 << 10;

impl SledJournal {
    /// Opens the data directory, recovers, and starts the store's threads. Blocks for as long as reading the unfolded
    /// part of the log takes.
    ///
    /// # Errors
    ///
    /// [`Error::Unusable`] when the directory is in use, half restored or cannot be written durably,
    /// [`Error::Damaged`] when what is stored is not whole, [`Error::Io`] when the disk fails.
    pub fn open(options: Options) -> Result<Self, Error> {
        Membership::refuse(&options.dir)?;
        Self::open_with(options, true, |options, database, _| {
            let frames = SledFrames::open(&database.sled, &database.log_file, options)?;
            Ok(Arc::new(frames))
        })
    }

    /// The same, where the log's frames are kept elsewhere and the directory has the books alone.
    ///
    /// # Errors
    ///
    /// Those of [`SledJournal::open`].
    pub fn open_over(options: Options, frames: Arc<dyn Frames>) -> Result<Self, Error> {
        Self::open_with(options, true, |_, _, _| Ok(frames))
    }

    /// Whether a directory has a store.
    pub(crate) fn has_data(root: &Path) -> bool {
        root.join(DATABASE).exists()
    }

    /// The same over any frames; where it does not lead, it only folds until [`SledJournal::lead`].
    pub(crate) fn open_with(
        options: Options,
        leads: bool,
        frames: impl FnOnce(&Options, &Database, &Watermark) -> Result<Arc<dyn Frames>, Error>,
    ) -> Result<Self, Error> {
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
        let frames = caught(|| frames(&options, &database, &watermark))?;
        let (books, head) = checkpoint::recover(&options, directory, database, &watermark, frames)?;
        let progress = LogProgress::recovered(head, Vec::new());
        let lease = books.disk.frames.shared().map(SharedFrames::lease);
        // What is sent in one piece elsewhere should be small enough for its place.
        let queue = Queue::new(match lease {
            Some(_) => SENT_BYTES,
            None => usize::MAX,
        });
        let shared = Arc::new(Shared::new(options, queue, progress, space, lease));
        let journal = Self {
            shared,
            books: RwLock::new(None),
            stop_rounds: Arc::default(),
            log: Mutex::default(),
            threads: Mutex::default(),
        };
        journal.shared.is_leader.store(leads, Ordering::Release);
        journal.start(books, watermark)?;
        if leads {
            journal.start_log()?;
        }
        Ok(journal)
    }

    /// Opens the log for writing: these frames, which say so, lie behind all that was read.
    pub(crate) fn lead(&self, opened: &[FramePosition]) -> Result<(), Error> {
        let shared = &self.shared;
        shared.progress.opened(opened, shared.options.checkpoint);
        shared.is_leader.store(true, Ordering::Release);
        // From here on it says that it leads, while it folds what it has read.
        self.start_log()?;
        self.settle()
    }

    /// Closes a log that others may follow for good: it goes on in this directory, by itself.
    ///
    /// # Errors
    ///
    /// Not everything could be written: the same is to be tried again.
    pub fn leave(&self) -> Result<(), Error> {
        let root = self.books()?.disk.directory.root().to_path_buf();
        self.shared.leaving.store(true, Ordering::Release);
        Log::close(self)?;
        Membership::remove(&root)
    }

    /// What its threads share.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    fn start(&self, books: DiskBooks, watermark: Watermark) -> Result<(), Error> {
        let books = Arc::new(books);
        *self.books.write() = Some(Arc::clone(&books));
        let stop = Arc::clone(&self.stop_rounds);
        let disk = &books.disk;
        let rounds = Arc::clone(disk);
        let mut threads = self.threads.lock();
        let folding = Arc::clone(&books);
        threads.push(start("checkpoint", &self.shared, disk, move |shared| {
            checkpoint::run(shared, &folding)
        })?);
        threads.push(start("rounds", &self.shared, disk, move |shared| {
            rounds::run(shared, &rounds, &stop, watermark)
        })?);
        Ok(())
    }

    fn start_log(&self) -> Result<(), Error> {
        let disk = Arc::clone(&self.books()?.disk);
        let log = Arc::clone(&disk);
        let thread = start("log", &self.shared, &disk, move |shared| {
            commit::run(shared, &log)
        })?;
        *self.log.lock() = Some(thread);
        Ok(())
    }
}
