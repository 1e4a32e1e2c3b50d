//! Makes the books of a process that joins others: from a copy of theirs, in a repository that all of them reach, and the
//! frames of their log behind it, which goes on under the same numbers.

use std::path::PathBuf;

use super::{
    rebuild::{Source, move_in, rebuild},
    repository::Repository,
    restore::install_guard,
    state::{Stage, State},
};
use crate::{
    books::verify::report::VerifyReport,
    contract::{OnProgress, TransferProgress},
    error::Error,
    faults::Faults,
    files::make_private,
    frames::{FramePosition, Frames},
    log::lock::Directory,
};

/// Books to make, and where to.
#[derive(Clone)]
pub struct MemberRestore<'a> {
    /// Where the snapshots are. A backup does as well: its frames and the files beside its store are left out.
    pub repository: &'a dyn Repository,
    /// The log that the books go on with: it must have the frames behind the snapshot.
    pub log: &'a dyn Frames,
    /// Called with the place of the snapshot, before any of it is read: until the books are open, the log must not be
    /// trimmed past it.
    pub on_needs: &'a (dyn Fn(FramePosition) + Sync),
    /// The snapshot's name; `None`: the one that an earlier attempt began with, if it is of use, else the newest.
    pub name: Option<String>,
    /// The data directory, with no books in it; made if it does not exist.
    pub dir: PathBuf,
    /// Run even where writes cannot be made to survive a power cut.
    pub allow_unsynced: bool,
    /// Steps that fail in a test.
    pub faults: Faults,
}

impl std::fmt::Debug for MemberRestore<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemberRestore").finish_non_exhaustive()
    }
}

/// Books that were made.
#[derive(Debug, Clone)]
pub struct MemberSummary {
    /// The snapshot's name.
    pub name: String,
    /// How much was read.
    pub moved: TransferProgress,
    /// The result of verifying what was restored; `None`: an earlier attempt did that.
    pub report: Option<VerifyReport>,
}

/// Restores a snapshot into a data directory. Blocks until it is done.
///
/// The books are then applied up to the last frame that the copy may have something of ([`Manifest`]'s `head`), and
/// the watermark names that frame: the log was durable up to it when the snapshot began to count, so a log that ends
/// before it, or has another frame there, has lost something. [`SledJournal::open_over`] goes on behind it.
///
/// [`Manifest`]: super::Manifest
/// [`SledJournal::open_over`]: crate::SledJournal::open_over
/// # Errors
/// The directory holds data, the snapshot is damaged (says which chunk), the log does not have the frames behind it, or
/// `on_progress` ended it. The next attempt uses what was restored by then.
pub fn restore_member(
    what: &MemberRestore<'_>,
    on_progress: OnProgress<'_>,
) -> Result<MemberSummary, Error> {
    install_guard(what.allow_unsynced)?;
    make_private(&what.dir)?;
    let directory = Directory::lock(&what.dir)?;
    let faults = &what.faults;
    let former = State::read(&directory).filter(|state| state.follows);
    let wanted = |name: &str| what.name.as_ref().is_none_or(|wanted| wanted == name);
    if let Some(former) = &former
        && former.stage == Stage::Moving
        && wanted(&former.backup)
    {
        // The snapshot may be gone by now, and is not needed any more.
        move_in(&directory, faults)?;
        return Ok(MemberSummary {
            name: former.backup.clone(),
            moved: TransferProgress::default(),
            report: None,
        });
    }
    let name = match &what.name {
        Some(name) => name.clone(),
        None => choose(what, former)?,
    };
    let manifest = what.repository.manifest(&name)?;
    (what.on_needs)(manifest.applied.place()?);
    let source = Source {
        repository: what.repository,
        name: &name,
        manifest: &manifest,
        log: Some(what.log),
        files: &[],
        faults,
    };
    let (moved, report) = rebuild(&directory, &source, on_progress)?;
    Ok(MemberSummary {
        name,
        moved,
        report,
    })
}

/// The snapshot that an earlier attempt began with, unless it or the frames behind it are gone; else the newest.
fn choose(what: &MemberRestore<'_>, former: Option<State>) -> Result<String, Error> {
    let mut names = what.repository.manifests()?;
    if let Some(former) = former
        && names.contains(&former.backup)
        && let Ok(manifest) = what.repository.manifest(&former.backup)
    {
        let next = manifest.applied.lsn.saturating_add(1);
        if former.stage == Stage::Checkpointing || what.log.read(next)?.is_some() {
            return Ok(former.backup);
        }
    }
    let none = || Error::Unusable(format!("{} has no snapshot yet", what.repository.label()));
    names.pop().ok_or_else(none)
}
