//! Backups of a data directory, made while the service goes on, and restoring them. [`repository`] says what is kept,
//! [`directory`] where, [`crate::books::copied`] why a copy of changing books can be made consistent.
//! A snapshot is a backup without frames, of books whose log is elsewhere.

mod attempt;
mod chunk;
mod copy;
mod directory;
mod discard;
mod manifest;
mod member;
mod rebuild;
mod records;
mod repository;
mod restore;
mod state;

use std::path::Path;

use domain::Timestamp;

pub use crate::contract::{
    BackUp, BackupSummary, BesideFile, OnProgress, SnapshotOrder, TransferProgress,
};
pub use chunk::{MAX_COMPRESSED_BYTES, from_hex, hex};
pub(crate) use copy::{back_up, snapshot};
pub use directory::DirectoryRepository;
pub use discard::{discard, is_unfinished_member, start_over};
pub use manifest::Manifest;
pub use member::{MemberRestore, MemberSummary, restore_member};
pub use repository::{Repository, StoredChunk, named};
pub use restore::{Restore, RestoreSummary, restore};

use crate::error::Error;

const FRAMES: &str = "frames";
const FILES: &str = "files";

/// An existing backup with a readable manifest; its chunks are not checked.
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
/// # Errors
/// The directory cannot be read, or its newest manifest is damaged.
pub fn newest(dir: &Path) -> Result<Option<BackupInfo>, Error> {
    if !dir.join("scrip-backup.json").exists() {
        return Ok(None);
    }
    let repository = DirectoryRepository::open_to_read(dir)?;
    let Some(name) = repository.manifests()?.pop() else {
        return Ok(None);
    };
    let manifest = repository.manifest(&name)?;
    Ok(Some(BackupInfo {
        name,
        made_at: Timestamp(manifest.made_at),
        bytes: manifest.bytes(),
    }))
}

fn stopped() -> Error {
    Error::Unusable("stopped before the end; the next attempt reuses what was written".into())
}
