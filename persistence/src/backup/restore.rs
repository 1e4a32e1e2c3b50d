//! Restores a backup into a data directory that holds nothing yet. Everything is made in a folder inside
//! (`restoring/`), opened, applied and verified there, and only then moved to its place, the database last. While that
//! folder exists nothing is served from the directory, and running the same restore again goes on where it stopped.

use std::path::PathBuf;

use domain::Timestamp;

use super::{
    attempt::files,
    directory::DirectoryRepository,
    rebuild::{Source, rebuild},
    repository::Repository as _,
};
use crate::{
    books::verify::report::VerifyReport,
    contract::{OnProgress, TransferProgress},
    error::Error,
    faults::Faults,
    files::make_private,
    log::{guard, lock::Directory},
};

/// A backup to restore, and where to.
#[derive(Clone)]
pub struct Restore {
    /// The directory that backups are kept in.
    pub from: PathBuf,
    /// The backup's name; `None`: the newest.
    pub name: Option<String>,
    /// The data directory; made if it does not exist.
    pub dir: PathBuf,
    /// Run even where writes cannot be made to survive a power cut.
    pub allow_unsynced: bool,
    /// Steps that fail in a test.
    pub faults: Faults,
}

impl std::fmt::Debug for Restore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restore").finish_non_exhaustive()
    }
}

/// A backup that was restored.
#[derive(Debug, Clone)]
pub struct RestoreSummary {
    /// The backup's name.
    pub name: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// How much was read.
    pub moved: TransferProgress,
    /// Frames of the log that were applied.
    pub frames: u64,
    /// The result of verifying what was restored; `None`: an earlier attempt did that.
    pub report: Option<VerifyReport>,
    /// Names of the restored files beside the store.
    pub files: Vec<String>,
}

/// Restores a backup. Blocks until it is done.
/// # Errors
/// The directory holds data, the backup is damaged (says which chunk), or `on_progress` ended it. The next attempt uses what
/// was restored by then.
pub fn restore(what: &Restore, on_progress: OnProgress<'_>) -> Result<RestoreSummary, Error> {
    install_guard(what.allow_unsynced)?;
    let repository = DirectoryRepository::open_to_read(&what.from)?;
    let name = match &what.name {
        Some(name) => name.clone(),
        None => repository
            .manifests()?
            .pop()
            .ok_or_else(|| Error::Unusable(format!("{} has no backup yet", what.from.display())))?,
    };
    let manifest = repository.manifest(&name)?;
    if !manifest.has_frames() {
        return Err(Error::Unusable(format!(
            "{name} has no frames: it is a snapshot of books whose log is elsewhere, and of use there alone"
        )));
    }
    make_private(&what.dir)?;
    let directory = Directory::lock(&what.dir)?;
    let files = files(&repository, &manifest)?;
    let source = Source {
        repository: &repository,
        name: &name,
        manifest: &manifest,
        log: None,
        files: &files,
        faults: &what.faults,
    };
    let (moved, report) = rebuild(&directory, &source, on_progress)?;
    drop(directory);
    let frames = manifest.head.lsn.saturating_sub(manifest.applied.lsn);
    Ok(RestoreSummary {
        name,
        made_at: Timestamp(manifest.made_at),
        moved,
        frames,
        report,
        files: files.into_iter().map(|(name, _)| name).collect(),
    })
}

/// Makes writes of this process survive a power cut.
pub(super) fn install_guard(allow_unsynced: bool) -> Result<(), Error> {
    match guard::install() {
        Err(why) if allow_unsynced => {
            tracing::warn!(error = %why, "Restoring with unsynced writes: they may not survive a power cut");
            Ok(())
        }
        installed => installed,
    }
}
