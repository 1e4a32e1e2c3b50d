//! A backup of the books: what is asked for, how far it has come, and what was made.

use std::path::PathBuf;

use domain::Timestamp;

/// A file beside the store: its name and what it holds.
pub type BesideFile = (String, Vec<u8>);

/// A backup to make.
#[derive(Debug, Clone)]
pub struct BackUp {
    /// The directory that backups are kept in; made if it does not exist.
    pub to: PathBuf,
    /// The backup's name: letters, digits and hyphens. Later backups have larger names.
    pub name: String,
    /// When the backup is made, for its manifest.
    pub made_at: Timestamp,
    /// Identifies this data: backups of another owner's data are refused.
    pub owner: String,
    /// Files from beside the store that are put into the backup.
    pub files: Vec<BesideFile>,
    /// How many backups are kept, this one included; `None`: all.
    pub keep: Option<usize>,
}

/// A copy of the books alone to make: their log is elsewhere and goes on behind it.
#[derive(Debug, Clone)]
pub struct SnapshotOrder {
    /// Its name: letters, digits and hyphens.
    pub name: String,
    /// When it is made, for its manifest.
    pub made_at: Timestamp,
    /// How many snapshots are kept, this one included; `None`: all.
    pub keep: Option<usize>,
}

/// How far a backup or a restore has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransferProgress {
    /// Records read so far.
    pub records: u64,
    /// Uncompressed bytes of their chunks.
    pub bytes: u64,
    /// An estimate of all bytes to read; 0: unknown.
    pub of_bytes: u64,
    /// Chunks that were read or written so far.
    pub chunks: u64,
    /// Chunks of these that did not exist yet and were written.
    pub new_chunks: u64,
    /// Compressed bytes that were written.
    pub new_bytes: u64,
}

/// Called after each chunk; `false` ends the backup or restore.
pub type OnProgress<'a> = &'a (dyn Fn(&TransferProgress) -> bool + Sync);

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSummary {
    /// The backup's name.
    pub name: String,
    /// How much was read and written.
    pub moved: TransferProgress,
    /// How many older backups were removed.
    pub removed_backups: u64,
    /// How many chunks were removed because no backup names them any more.
    pub removed_chunks: u64,
}
