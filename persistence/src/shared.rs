//! What the store's threads share, and how all of it stops for good when one of them fails: a
//! failed write or sync is never tried again, and sled is never dropped after it, because dropping
//! it would sync again and might report success.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

use crate::{
    contract::{Awake, Error, Refused},
    database::{Database, words},
    fold::Folded,
    kept::Kept,
    latency::Latency,
    lock::Directory,
    lookups::fresh::Fresh,
    notices,
    options::Options,
    progress::Progress,
    queue::Queue,
    space::Space,
};

/// How long those who wait for an append may take to hear of a failure before the process is told.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The disk: let go of only when the journal is closed.
pub(crate) struct Disk {
    pub database: Database,
    pub journal: sled::Tree,
    pub folded: Folded,
    // Last, so that the directory is free only after everything else is.
    pub directory: Directory,
}

/// Where the threads meet.
pub(crate) struct Shared {
    pub options: Options,
    pub queue: Queue,
    pub progress: Progress,
    pub space: Space,
    pub latency: Latency,
    /// What folds do not forget while a copy is made.
    pub kept: Kept,
    /// What the stored look-ups do not have yet.
    pub fresh: Fresh,
    /// Notices that are not stored yet.
    pub notices: notices::Fresh,
    /// Who may give snapshots.
    awake: Mutex<Option<Weak<dyn Awake>>>,
    failure: Mutex<Option<String>>,
    answered: Mutex<bool>,
    on_answered: Condvar,
    told: AtomicBool,
}

impl Shared {
    pub(crate) fn new(options: Options, progress: Progress, space: Space) -> Self {
        Self {
            options,
            queue: Queue::default(),
            progress,
            space,
            latency: Latency::default(),
            kept: Kept::default(),
            fresh: Fresh::default(),
            notices: notices::Fresh::default(),
            awake: Mutex::new(None),
            failure: Mutex::new(None),
            answered: Mutex::new(false),
            on_answered: Condvar::new(),
            told: AtomicBool::new(false),
        }
    }

    /// From now on these give snapshots.
    pub(crate) fn follow(&self, awake: Weak<dyn Awake>) {
        *self.awake.lock() = Some(awake);
    }

    /// Who gives snapshots now.
    pub(crate) fn awake(&self) -> Option<Arc<dyn Awake>> {
        self.awake.lock().as_ref().and_then(Weak::upgrade)
    }

    /// Why the store failed, if it did.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure
            .lock()
            .as_ref()
            .map(|why| Error::Io(format!("the log failed before: {why}")))
    }

    /// Whether it failed.
    pub(crate) fn failed(&self) -> bool {
        self.failure.lock().is_some()
    }

    /// Stops everything for good. Whoever calls it must not touch the disk again.
    pub(crate) fn fail(&self, disk: &Arc<Disk>, why: &Error) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            *failure = Some(why.to_string());
            // A reference that is never given back: sled is not dropped any more.
            std::mem::forget(Arc::clone(disk));
        }
        drop(failure);
        self.queue.stop(Refused::Poisoned);
        self.progress.stop();
    }

    /// The log's thread has told everyone who waited.
    pub(crate) fn all_answered(&self) {
        *self.answered.lock() = true;
        self.on_answered.notify_all();
        self.tell();
    }

    /// Tells the process once; those who wait for an append come first, unless the log's thread
    /// hangs in the disk.
    fn tell_after_answers(&self) {
        let mut answered = self.answered.lock();
        if !*answered {
            self.on_answered.wait_for(&mut answered, LAST_WORDS);
        }
        drop(answered);
        self.tell();
    }

    fn tell(&self) {
        let why = self.failure.lock().clone();
        if let Some(why) = why
            && !self.told.swap(true, Ordering::AcqRel)
        {
            (self.options.on_fatal)(&why);
        }
    }
}

/// Starts a thread of the store. An error or a panic in it stops the store for good.
pub(crate) fn start(
    name: &str,
    shared: &Arc<Shared>,
    disk: &Arc<Disk>,
    work: impl FnOnce(&Arc<Shared>, &Arc<Disk>) -> Result<(), Error> + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    let (shared, disk) = (Arc::clone(shared), Arc::clone(disk));
    let run = move || {
        let result = panic::catch_unwind(AssertUnwindSafe(|| work(&shared, &disk)));
        let error = match result {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(payload) => Error::Io(format!("a thread panicked: {}", words(&*payload))),
        };
        shared.fail(&disk, &error);
        shared.tell_after_answers();
    };
    thread::Builder::new()
        .name(name.into())
        .spawn(run)
        .map_err(|error| Error::Io(format!("no thread for {name}: {error}")))
}
