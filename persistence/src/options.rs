//! What an operator or a test may choose about the store, and the defaults.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::{
    contract::{Backlog, OnOutcome},
    error::{Error, Outcome},
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
    /// Failures to inject, for tests.
    pub faults: Option<Arc<dyn Faults>>,
}

impl Options {
    /// The defaults, in this directory.
    #[must_use]
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
            faults: None,
        }
    }

    /// Fails when a test wants this step to fail.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], as the test says.
    pub fn before(&self, step: Step) -> Result<(), Error> {
        match &self.faults {
            Some(faults) => faults.before(step).map_err(Error::Io),
            None => Ok(()),
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

/// A step of the store: a crash or an error after it leaves something else on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A group commit inserts a frame.
    InsertFrame,
    /// A group commit makes its frames durable.
    FlushFrames,
    /// A checkpoint writes applied state.
    Checkpoint,
    /// A checkpoint writes how far it applied.
    WriteMeta,
    /// A checkpoint makes the applied state durable.
    FlushCheckpoint,
    /// A checkpoint asks the disk about earlier write errors.
    SyncCheckpoint,
    /// A checkpoint deletes what it replaced.
    Forget,
    /// A checkpoint deletes an applied frame.
    DropFrame,
    /// The watermark is written.
    SyncWatermark,
    /// A backup writes a chunk.
    WriteChunk,
    /// A backup copies the frames of the log.
    CopyFrames,
    /// A backup makes its chunks durable.
    SyncChunks,
    /// A backup writes its manifest.
    WriteManifest,
    /// A backup removes what no manifest names.
    RemoveOld,
    /// A restore writes what a chunk holds.
    RestoreChunk,
    /// A restore takes a frame from the log that the books go on with.
    RestoreFrame,
    /// A restore notes how far it has come.
    RestoreProgress,
    /// A restore applies the log.
    RestoreCheckpoint,
    /// A restore puts a file or the database in its place.
    RestoreMove,
    /// A restore removes what it worked with.
    RestoreTidy,
    /// A data directory is marked as being emptied.
    DiscardMark,
    /// Something of a data directory is removed.
    DiscardRemove,
    /// The log of a new cell is made, which goes on from a frame of another.
    MakeCell,
    /// A data directory is noted as following another log of its cluster; and once that is so.
    ChangeCell,
}

impl Step {
    /// Every step of a journal at work, for tests that go through all of them.
    pub const ALL: [Self; 9] = [
        Self::InsertFrame,
        Self::FlushFrames,
        Self::Checkpoint,
        Self::WriteMeta,
        Self::FlushCheckpoint,
        Self::SyncCheckpoint,
        Self::Forget,
        Self::DropFrame,
        Self::SyncWatermark,
    ];

    /// Every step of a backup.
    pub const BACKUP: [Self; 5] = [
        Self::WriteChunk,
        Self::CopyFrames,
        Self::SyncChunks,
        Self::WriteManifest,
        Self::RemoveOld,
    ];

    /// Every step of a restore.
    pub const RESTORE: [Self; 4] = [
        Self::RestoreChunk,
        Self::RestoreProgress,
        Self::RestoreCheckpoint,
        Self::RestoreMove,
    ];

    /// Every step of emptying a data directory.
    pub const DISCARD: [Self; 2] = [Self::DiscardMark, Self::DiscardRemove];
}

/// Makes steps fail, for tests.
pub trait Faults: Send + Sync {
    /// Called before each step; an error is treated as the step's own.
    fn before(&self, step: Step) -> Result<(), String>;
}
