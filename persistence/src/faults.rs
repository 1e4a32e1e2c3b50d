//! The steps of the store that a test may make fail. Without the feature `test-util` none does.

#[cfg(feature = "test-util")]
use std::sync::Arc;

use crate::error::Error;

/// The steps that fail in a test. Cheap to clone.
#[derive(Clone, Default)]
pub struct Faults {
    #[cfg(feature = "test-util")]
    inject: Option<Arc<dyn InjectFault>>,
}

impl Faults {
    /// Fails when a test wants this step to fail.
    /// # Errors
    /// [`Error::Io`], as the test says.
    #[cfg(feature = "test-util")]
    pub fn before(&self, step: Step) -> Result<(), Error> {
        match &self.inject {
            Some(inject) => inject.before(step).map_err(Error::Io),
            None => Ok(()),
        }
    }

    /// Nothing fails.
    /// # Errors
    /// None.
    #[cfg(not(feature = "test-util"))]
    #[inline(always)]
    pub const fn before(&self, _: Step) -> Result<(), Error> {
        Ok(())
    }
}

/// Makes steps fail.
#[cfg(feature = "test-util")]
pub trait InjectFault: Send + Sync {
    /// Called before each step; an error is treated as the step's own.
    fn before(&self, step: Step) -> Result<(), String>;
}

#[cfg(feature = "test-util")]
impl<T: InjectFault + 'static> From<&Arc<T>> for Faults {
    fn from(inject: &Arc<T>) -> Self {
        Self {
            inject: Some(Arc::clone(inject) as Arc<dyn InjectFault>),
        }
    }
}

/// A step of the store: a crash or an error after it leaves something else on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants say what they are")]
pub enum Step {
    InsertFrame,
    FlushFrames,
    Checkpoint,
    WriteMeta,
    FlushCheckpoint,
    /// A checkpoint asks the disk about earlier write errors.
    SyncCheckpoint,
    Forget,
    DropFrame,
    SyncWatermark,
    WriteChunk,
    CopyFrames,
    SyncChunks,
    WriteManifest,
    /// A backup removes what no manifest names.
    RemoveOld,
    RestoreChunk,
    /// A restore takes a frame from the log that the books go on with.
    RestoreFrame,
    RestoreProgress,
    RestoreCheckpoint,
    RestoreMove,
    RestoreTidy,
    DiscardMark,
    DiscardRemove,
    /// The log of a new cell is made, which goes on from a frame of another.
    MakeCell,
    /// A data directory is noted as following another log of its cluster; and once that is so.
    ChangeCell,
}

#[cfg(feature = "test-util")]
impl Step {
    /// Every step of a journal at work.
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
