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
    frames::{FramePosition, Frames, SharedFrames, SledFrames, StoredFrame, follows, frame},
    log::{
        commit,
        database::{self, Database},
        guard,
        lock::{DATABASE, Directory},
        progress::{LogProgress, PendingFrame},
        queue::Queue,
        recovery::read_meta,
        rounds,
        shared::{Shared, start},
        space::Space,
        watermark::Watermark,
    },
    membership::Membership,
    options::Options,
    sled_error::caught,
};

/// Bytes of a batch whose frames are sent to a database together.
const SENT_BYTES: usize = 512 << 10;

/// How far a data directory has come with its log.
#[derive(Debug, Clone, Copy)]
pub struct DirectoryPosition<'a> {
    /// The data directory.
    pub root: &'a Path,
    /// The last frame in its books.
    pub applied: FramePosition,
    /// The last frame that was acknowledged to it as durable.
    pub acknowledged: FramePosition,
}

impl SledJournal {
    /// Opens the data directory, recovers, and starts the store's threads. Blocks for as long as reading the pending
    /// part of the log takes.
    /// # Errors
    /// [`Error::Unusable`] when the directory is in use, half restored or cannot be written durably,
    /// [`Error::Damaged`] when what is stored is inconsistent, [`Error::Io`] when the disk fails.
    pub fn open(options: Options) -> Result<Self, Error> {
        Membership::refuse(&options.dir)?;
        Self::open_with(options, true, |options, database, _| {
            let frames = SledFrames::open(&database.sled, &database.log_file, options)?;
            Ok(Arc::new(frames))
        })
    }

    /// The same, where the log's frames are kept elsewhere and the directory has the books alone.
    /// # Errors
    /// Those of [`SledJournal::open`].
    pub fn open_over(options: Options, frames: Arc<dyn Frames>) -> Result<Self, Error> {
        Self::open_with(options, true, |_, _, _| Ok(frames))
    }

    /// The same without leading: frames are added by [`SledJournal::extend`] until [`SledJournal::lead`]. `frames` is notified
    /// how far the directory has come, while that is locked, and opens the log or refuses.
    /// # Errors
    /// Those of [`SledJournal::open`] and of `frames`.
    pub fn open_following(
        options: Options,
        frames: impl FnOnce(DirectoryPosition<'_>) -> Result<Arc<dyn Frames>, Error>,
    ) -> Result<Self, Error> {
        Self::open_with(options, false, |options, database, watermark| {
            frames(DirectoryPosition {
                root: &options.dir,
                applied: read_meta(&database.sled)?,
                acknowledged: watermark.place(),
            })
        })
    }

    /// Whether a directory has a store.
    pub fn has_data(root: &Path) -> bool {
        root.join(DATABASE).exists()
    }

    fn open_with(
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

    /// Adds frames that another process wrote and that are durable; none of them, unless they follow the head.
    /// # Errors
    /// [`Error::Fenced`] when they do not follow the head, [`Error::Damaged`] when what they hold cannot be read. Both are
    /// final.
    pub fn extend(&self, frames: &[StoredFrame]) -> Result<(), Error> {
        let shared = &self.shared;
        let mut before = shared.progress.head();
        let mut pending = Vec::with_capacity(frames.len());
        for stored in frames {
            follows(stored, before).map_err(|_| went_elsewhere(before.lsn))?;
            let events = frame::decode_checked(&stored.bytes)?.count()?;
            let length = match events {
                0 => 0,
                _ => stored.bytes.len(),
            };
            let count = u32::try_from(events).unwrap_or(u32::MAX);
            shared.progress.count_append(count, length);
            pending.push(PendingFrame {
                place: stored.place,
                before: std::mem::replace(&mut before, stored.place),
                events,
                length: length as u64,
                ticket: 0,
                frame: Some(Arc::clone(&stored.bytes)),
            });
        }
        let options = &shared.options;
        let enough = options.checkpoint;
        shared.progress.made_durable(pending, before, enough);
        shared.progress.make_room(options.backlog_limit.most());
        Ok(())
    }

    /// The last frame that it has.
    pub fn head(&self) -> FramePosition {
        self.shared.progress.head()
    }

    /// Why it failed for good, if it did.
    pub fn failure(&self) -> Option<Error> {
        self.shared.failure()
    }

    /// Whether its disk is nearly full.
    pub fn is_disk_full(&self) -> bool {
        self.shared.space.low()
    }

    /// Opens the log for writing: these frames, which say so, are behind all that was read.
    /// # Errors
    /// No thread can be started, or what was read cannot be applied.
    pub fn lead(&self, opened: &[FramePosition]) -> Result<(), Error> {
        let shared = &self.shared;
        shared.progress.opened(opened, shared.options.checkpoint);
        shared.is_leader.store(true, Ordering::Release);
        // From here on it says that it leads, while it applies what it has read.
        self.start_log()?;
        self.flush()
    }

    /// Closes a log that others may follow for good: it goes on in this directory, by itself.
    /// # Errors
    /// Not everything could be written: the same is to be tried again.
    pub fn leave(&self) -> Result<(), Error> {
        let root = self.books()?.disk.directory.root().to_path_buf();
        self.shared.leaving.store(true, Ordering::Release);
        Log::close(self)?;
        Membership::remove(&root)
    }

    fn start(&self, books: DiskBooks, watermark: Watermark) -> Result<(), Error> {
        let books = Arc::new(books);
        *self.books.write() = Some(Arc::clone(&books));
        let stop = Arc::clone(&self.stop_rounds);
        let disk = &books.disk;
        let rounds = Arc::clone(disk);
        let mut threads = self.threads.lock();
        let checkpointing = Arc::clone(&books);
        threads.push(start("checkpoint", &self.shared, disk, move |shared| {
            checkpoint::run(shared, &checkpointing)
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

/// The log that was read is not the one that is stored any more.
#[must_use]
pub fn went_elsewhere(lsn: u64) -> Error {
    Error::Fenced(format!(
        "the log in the database is not the one that was read up to frame {lsn}: local state is rebuilt"
    ))
}
