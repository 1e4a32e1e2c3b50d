//! What an operator or a test may choose about the store, and the defaults.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::contract::{Done, Outcome};

/// Runs what waited for a group commit, in the order given. Called by the log's own thread: it
/// should hand the work on rather than do it.
pub type Completions = Arc<dyn Fn(Vec<(Done, Outcome)>) + Send + Sync>;

/// Told, once, why the log failed for good. The process should end without dropping the journal.
pub type OnFatal = Arc<dyn Fn(&str) + Send + Sync>;

/// How to open a [`crate::SledJournal`].
#[derive(Clone)]
pub struct Options {
    /// The data directory; made if it does not exist.
    pub dir: PathBuf,
    /// Memory for sled's page cache, in bytes.
    pub cache_bytes: u64,
    /// How often sled collects garbage, in milliseconds. Durability does not hang on it.
    pub flush_every_ms: u64,
    /// Fold once this many events wait, and at most about this many at a time.
    pub checkpoint_events: u64,
    /// Fold about this many bytes of events at a time: they are in memory together. Usual events
    /// are small; that many notes may be gigabytes.
    pub checkpoint_bytes: usize,
    /// Fold after this long when fewer wait.
    pub checkpoint_interval: Duration,
    /// Refuse appends while this many events wait to be folded.
    pub backlog_limit: u64,
    /// Refuse appends while less than this is free on the disk, in bytes.
    pub min_free_bytes: u64,
    /// Run also where writes cannot be made to survive a power cut.
    pub allow_unsynced: bool,
    /// Who runs what waited. The default runs it on the log's thread.
    pub completions: Completions,
    /// Who is told of a failure. The default logs it.
    pub on_fatal: OnFatal,
    /// Failures to act out, for tests.
    pub faults: Option<Arc<dyn Faults>>,
}

impl Options {
    /// The defaults, in this directory.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            cache_bytes: 16 << 20,
            flush_every_ms: 200,
            checkpoint_events: 256 * 1024,
            checkpoint_bytes: 128 << 20,
            checkpoint_interval: Duration::from_secs(5),
            backlog_limit: 1_000_000,
            min_free_bytes: 256 << 20,
            allow_unsynced: false,
            completions: Arc::new(|waiting| {
                for (done, outcome) in waiting {
                    done(outcome);
                }
            }),
            on_fatal: Arc::new(|why| tracing::error!(error = why, "the log failed for good")),
            faults: None,
        }
    }

    /// Fails when a test wants this step to fail.
    pub(crate) fn before(&self, step: Step) -> Result<(), crate::Error> {
        match &self.faults {
            Some(faults) => faults.before(step).map_err(crate::Error::Io),
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

/// A step of the store after which a crash or an error leaves something else on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A group commit inserts a frame.
    InsertFrame,
    /// A group commit makes its frames durable.
    FlushFrames,
    /// A checkpoint writes folded state.
    Fold,
    /// A checkpoint writes how far it folded.
    WriteMeta,
    /// A checkpoint makes the folded state durable.
    FlushFold,
    /// A checkpoint asks the disk about earlier write errors.
    SyncFold,
    /// A checkpoint deletes what the fold replaced.
    Forget,
    /// A checkpoint deletes a folded frame.
    DropFrame,
    /// The watermark is written.
    SyncWatermark,
}

impl Step {
    /// Every step, for tests that go through all of them.
    pub const ALL: [Self; 9] = [
        Self::InsertFrame,
        Self::FlushFrames,
        Self::Fold,
        Self::WriteMeta,
        Self::FlushFold,
        Self::SyncFold,
        Self::Forget,
        Self::DropFrame,
        Self::SyncWatermark,
    ];
}

/// Makes steps fail, for tests.
pub trait Faults: Send + Sync {
    /// Called before each step; an error is treated as the step's own.
    fn before(&self, step: Step) -> Result<(), String>;
}
