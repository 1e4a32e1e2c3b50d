//! Backups of a data directory, made while the service goes on, and restoring them. [`vault`] says what lies where,
//! [`crate::fold::copied`] why a copy of changing books can be made consistent.

mod attempt;
mod copy;
mod manifest;
mod records;
mod restore;
mod vault;

use std::path::{Path, PathBuf};

use domain::Timestamp;

pub(crate) use copy::back_up;
pub use restore::{Restore, RestoreSummary, restore};

use crate::contract::Error;
use vault::Vault;

/// The section of frames.
const FRAMES: &str = "frames";
/// The section of files that lie beside the store.
const FILES: &str = "files";

/// A file that lies beside the store: its name and what it holds.
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

/// An existing backup with a whole manifest; its chunks are not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupInfo {
    /// The backup's name.
    pub name: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// Uncompressed bytes of its chunks.
    pub bytes: u64,
}

/// The newest backup in a directory, if there is one.
///
/// # Errors
///
/// The directory cannot be read, or its newest manifest is damaged.
pub fn newest(dir: &Path) -> Result<Option<BackupInfo>, Error> {
    if !dir.join("scrip-backup.json").exists() {
        return Ok(None);
    }
    let vault = Vault::open_to_read(dir)?;
    let Some(name) = vault.manifests()?.pop() else {
        return Ok(None);
    };
    let manifest = vault.manifest(&name)?;
    Ok(Some(BackupInfo {
        name,
        made_at: Timestamp(manifest.made_at),
        bytes: manifest.bytes(),
    }))
}

fn stopped() -> Error {
    Error::Unusable("stopped before the end; the next attempt reuses what was written".into())
}
