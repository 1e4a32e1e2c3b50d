//! Backups of a data directory, made while the service goes on, and their way back. [`vault`] says what
//! lies where, [`crate::fold::copied`] why a copy of moving books can be made whole.

mod attempt;
mod copy;
mod manifest;
mod records;
mod restore;
mod vault;

use std::path::{Path, PathBuf};

use domain::Timestamp;

pub(crate) use copy::back_up;
pub use restore::{Restore, Restored, restore};

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
    /// What the backup is called: letters, digits and hyphens. Later ones have larger names.
    pub name: String,
    /// When.
    pub made_at: Timestamp,
    /// Tells this data from others'.
    pub owner: String,
    /// Files to go with it.
    pub files: Vec<BesideFile>,
    /// How many backups are kept, this one included; `None`: all.
    pub keep: Option<usize>,
}

/// How far a backup or a restore has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Records read.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// About how many bytes there are; 0: nobody knows.
    pub of_bytes: u64,
    /// Chunks that it consists of so far.
    pub chunks: u64,
    /// Chunks of them that had to be written.
    pub new_chunks: u64,
    /// Bytes written for them, compressed.
    pub new_bytes: u64,
}

/// Told after each chunk; `false` ends it.
pub type OnMoved<'a> = &'a (dyn Fn(&Moved) -> bool + Sync);

/// What was backed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What it is called.
    pub name: String,
    /// How much it was.
    pub moved: Moved,
    /// Older backups that were removed.
    pub removed_backups: u64,
    /// Chunks that no backup named any more.
    pub removed_chunks: u64,
}

/// A backup that is there, and whole as far as its manifest goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What it is called.
    pub name: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// Bytes of what it holds.
    pub bytes: u64,
}

/// The newest backup in a directory, if there is one.
///
/// # Errors
///
/// The directory cannot be read, or its newest manifest is damaged.
pub fn newest(dir: &Path) -> Result<Option<Listed>, Error> {
    if !dir.join("scrip-backup.json").exists() {
        return Ok(None);
    }
    let vault = Vault::open_to_read(dir)?;
    let Some(name) = vault.manifests()?.pop() else {
        return Ok(None);
    };
    let manifest = vault.manifest(&name)?;
    Ok(Some(Listed {
        name,
        made_at: Timestamp(manifest.made_at),
        bytes: manifest.bytes(),
    }))
}

fn stopped() -> Error {
    Error::Unusable("the backup was stopped; what it has written is not written twice".into())
}
