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

use super::{
    database::Database, lock::Directory, progress::LogProgress, project_events, queue::Queue,
    space::Space,
};
use crate::{
    contract::{Awake, latency::Latency},
    error::{AppendRefusal, Error},
    frames::{Frames, Lease, lease},
    lookups::overlay::Overlay,
    options::Options,
    sled_error::words,
    usage::pending::PendingSales,
};

/// How long waiting callers may take to hear of a failure before `on_fatal` is called.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// What is open on the disk below the books; released only when the journal is closed.
pub(crate) struct Disk {
    pub database: Database,
    pub frames: Arc<dyn Frames>,
    // Last, so that the directory is free only after everything else is.
    pub directory: Directory,
}

pub(crate) struct Shared {
    pub options: Options,
    pub queue: Arc<Queue>,
    pub progress: LogProgress,
    pub space: Space,
    pub latency: Latency,
    /// Whether this process has opened the log for writing.
    pub is_leader: AtomicBool,
    /// Whether this process takes the log along when it closes it: no term may start elsewhere.
    pub leaving: AtomicBool,
    /// The right to answer from memory, where several processes may write to the log.
    pub lease: Option<Arc<Lease>>,
    /// Look-up entries that are not stored yet.
    pub overlay: Overlay,
    /// Sales that are not stored yet.
    pub sales: PendingSales,
    /// Project events that are not stored yet.
    pub project_events: project_events::PendingEvents,
    /// The wallets in memory that checkpoints take snapshots from.
    awake: Mutex<Option<Weak<dyn Awake>>>,
    failure: Mutex<Option<Error>>,
    answered: Mutex<bool>,
    on_answered: Condvar,
    failure_reported: AtomicBool,
}

impl Shared {
    pub(crate) fn new(
        options: Options,
        queue: Queue,
        progress: LogProgress,
        space: Space,
        lease: Option<Arc<Lease>>,
    ) -> Self {
        Self {
            options,
            queue: Arc::new(queue),
            progress,
            space,
            latency: Latency::default(),
            is_leader: AtomicBool::new(true),
            leaving: AtomicBool::new(false),
            lease,
            overlay: Overlay::default(),
            sales: PendingSales::default(),
            project_events: project_events::PendingEvents::default(),
            awake: Mutex::new(None),
            failure: Mutex::new(None),
            answered: Mutex::new(false),
            on_answered: Condvar::new(),
            failure_reported: AtomicBool::new(false),
        }
    }

    /// Whether no other process can have a frame acknowledged.
    pub(crate) fn may_answer(&self) -> bool {
        let lease = self.lease.as_ref();
        lease.is_none_or(|lease| lease.holds(lease::now()))
    }

    pub(crate) fn follow(&self, awake: Weak<dyn Awake>) {
        *self.awake.lock() = Some(awake);
    }

    pub(crate) fn awake(&self) -> Option<Arc<dyn Awake>> {
        self.awake.lock().as_ref().and_then(Weak::upgrade)
    }

    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure
            .lock()
            .as_ref()
            .map(|why| Error::Io(format!("the log failed before: {why}")))
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.lock().is_some()
    }

    /// Stops everything for good. The caller must not touch the disk again.
    pub(crate) fn fail(&self, disk: &Arc<Disk>, why: &Error) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            *failure = Some(why.clone());
            // A reference that is never released: sled is not dropped any more.
            std::mem::forget(Arc::clone(disk));
        }
        drop(failure);
        self.queue.stop(match why {
            Error::Fenced(_) => AppendRefusal::Fenced,
            _ => AppendRefusal::Poisoned,
        });
        self.progress.stop();
    }

    /// Notes that the log's thread has answered everyone who waited.
    pub(crate) fn all_answered(&self) {
        *self.answered.lock() = true;
        self.on_answered.notify_all();
        self.report_failure();
    }

    /// Calls `on_fatal` once; callers who wait for an append come first, unless the log's thread hangs in the disk.
    fn report_fatal_after_answers(&self) {
        let mut answered = self.answered.lock();
        if !*answered {
            self.on_answered.wait_for(&mut answered, ANSWER_TIMEOUT);
        }
        drop(answered);
        self.report_failure();
    }

    fn report_failure(&self) {
        let why = self.failure.lock().clone();
        if let Some(why) = why
            && !self.failure_reported.swap(true, Ordering::AcqRel)
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
    work: impl FnOnce(&Shared) -> Result<(), Error> + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    let (shared, disk) = (Arc::clone(shared), Arc::clone(disk));
    let run = move || {
        let result = panic::catch_unwind(AssertUnwindSafe(|| work(&shared)));
        let error = match result {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(payload) => Error::Io(format!("a thread panicked: {}", words(&*payload))),
        };
        shared.fail(&disk, &error);
        shared.report_fatal_after_answers();
    };
    thread::Builder::new()
        .name(name.into())
        .spawn(run)
        .map_err(|error| Error::Io(format!("no thread for {name}: {error}")))
}
