//! What an operator may choose about the store, and the defaults.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::{
    contract::{Backlog, OnOutcome},
    error::{Error, Outcome},
    faults::Faults,
};

/// Calls the callbacks of a group commit with their outcomes, in the order given. Runs on the log's
/// own thread: it should hand the work on rather than do it.
pub type Completions = Arc<dyn Fn(Vec<(OnOutcome, Outcome)>) + Send + Sync>;

/// Called once, with the reason, when the log fails for good. The process should end without dropping the journal.
pub type OnFatal = Arc<dyn Fn(&Error) + Send + Sync>;

/// How to open a [`crate::SledJournal`].
#[derive(Clone)]
pub struct Options {
    /// The data directory; made if it does not exist.
    pub dir: PathBuf,
    /// Memory for sled's page cache, in bytes.
    pub cache_bytes: u64,
    /// Memory for the filters that tell a new idempotency key from a used one without reading: 3 bytes
    /// for each past key of a wallet that is awake. With less, some look-ups read the disk.
    pub filter_bytes: usize,
    /// How often sled collects garbage, in milliseconds. Durability does not depend on it.
    pub flush_every_ms: u64,
    /// Make a checkpoint once so much waits, and at most about so much at a time, which is in memory together.
    pub checkpoint: Backlog,
    /// Make a checkpoint after this long when less waits.
    pub checkpoint_interval: Duration,
    /// Refuse appends while so much waits to be applied. Awake wallets keep as much in memory.
    pub backlog_limit: Backlog,
    /// Refuse appends while so many bytes wait for the log's thread: the disk has stalled.
    pub queue_bytes: usize,
    /// Bytes of durable frames that are kept in memory until they are applied; others are read again.
    pub frame_bytes: u64,
    /// Refuse appends while less than this is free on the disk, in bytes.
    pub min_free_bytes: u64,
    /// Average bytes of a backup's chunk; an eighth of it where changes are scattered.
    pub backup_chunk_bytes: usize,
    /// Occupy the threads of sled's pool that every write would wake for nothing. For a process that has one store.
    pub occupy_idle_threads: bool,
    /// Run even where writes cannot be made to survive a power cut.
    pub allow_unsynced: bool,
    /// Calls the callbacks of a group commit. The default does so on the log's thread.
    pub completions: Completions,
    /// Called when the log fails. The default logs it.
    pub on_fatal: OnFatal,
    /// Steps that fail in a test.
    pub faults: Faults,
}

impl Options {
    /// The defaults, in this directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            cache_bytes: 16 << 20,
            filter_bytes: 256 << 20,
            flush_every_ms: 200,
            checkpoint: Backlog {
                events: 256 * 1024,
                bytes: 64 << 20,
            },
            checkpoint_interval: Duration::from_secs(5),
            backlog_limit: Backlog {
                events: 1_000_000,
                bytes: 256 << 20,
            },
            queue_bytes: 64 << 20,
            frame_bytes: 64 << 20,
            min_free_bytes: 256 << 20,
            backup_chunk_bytes: 512 << 10,
            occupy_idle_threads: false,
            allow_unsynced: false,
            completions: Arc::new(|waiting| {
                for (done, outcome) in waiting {
                    done(outcome);
                }
            }),
            on_fatal: Arc::new(|why| tracing::error!(error = %why, "The log failed for good")),
            faults: Faults::default(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}
