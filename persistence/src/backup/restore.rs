//! Restores a backup into a data directory that holds nothing yet. Everything is made in a folder inside
//! (`restoring/`), opened, folded and verified there, and only then moved to its place, the database last. While that
//! folder exists nothing is served from the directory, and running the same restore again goes on where it stopped.

use std::{fs, path::PathBuf, sync::Arc};

use domain::Timestamp;

use super::{
    FILES, FRAMES,
    attempt::{Stage, State, begin, files, write_state},
    directory::{DirectoryVault, make_private, write_new},
    manifest::Manifest,
    records, stopped,
    vault::Vault,
};
use crate::{
    books::{
        checkpoint,
        copied::{self, Section},
        store::Store,
        verify::{report::VerifyReport, verify},
    },
    contract::{OnProgress, TransferProgress},
    error::Error,
    frames::{FramePosition, SledFrames, frame},
    log::{
        database::{self, Database},
        guard,
        lock::{Directory, sync, unusable},
        recovery::{self, write_meta},
        watermark::Watermark,
    },
    options::{Faults, Options, Step},
    sled_error::caught,
    tuning::Tuning,
};

/// The folder in `restoring/` where the data directory is made.
const DATA: &str = "data";
/// The name of `restoring/` from when everything is in its place until it is removed.
const FINISHED_DIR: &str = "restoring.over";
/// Progress is written down after this many bytes.
const NOTED_EVERY: u64 = 64 << 20;
/// Memory for sled's page cache.
const CACHE_BYTES: u64 = 64 << 20;
/// Frame numbers that a log skips after a restore: 5,000 frames a second for five months. There is
/// room for four thousand such gaps.
const GAP: u64 = 1 << 36;
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
    /// Failures to inject, for tests.
    pub faults: Option<Arc<dyn Faults>>,
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
    /// Frames of the log that were folded.
    pub frames: u64,
    /// The result of verifying what was restored; `None`: an earlier attempt did that.
    pub report: Option<VerifyReport>,
    /// Names of the restored files beside the store.
    pub files: Vec<String>,
}

/// Restores a backup. Blocks until it is done.
///
/// # Errors
///
/// The directory holds data, the backup is damaged (says which chunk), or `on_progress` ended it. The next attempt uses what
/// was restored by then.
pub fn restore(what: &Restore, on_progress: OnProgress<'_>) -> Result<RestoreSummary, Error> {
    match guard::install() {
        Err(why) if what.allow_unsynced => {
            tracing::warn!(error = %why, "Restoring with unsynced writes: they may not survive a power cut");
        }
        installed => installed?,
    }
    let vault = DirectoryVault::open_to_read(&what.from)?;
    let name = match &what.name {
        Some(name) => name.clone(),
        None => vault
            .manifests()?
            .pop()
            .ok_or_else(|| Error::Unusable(format!("{} has no backup yet", what.from.display())))?,
    };
    let manifest = vault.manifest(&name)?;
    make_private(&what.dir)?;
    let directory = Directory::lock(&what.dir)?;
    let files = files(&vault, &manifest)?;
    let work = directory.restoring();
    let mut restoring = Restoring {
        what,
        vault: &vault,
        manifest: &manifest,
        data: work.join(DATA),
        state: begin(&directory, &name, &files)?,
        work,
        on_progress,
        moved: TransferProgress {
            of_bytes: manifest.bytes(),
            ..TransferProgress::default()
        },
        unnoted: 0,
    };
    if restoring.state.stage == Stage::Reading {
        restoring.read()?;
    }
    let mut report = None;
    if restoring.state.stage == Stage::Folding {
        restoring.fold()?;
        for (name, bytes) in &files {
            let path = restoring.data.join(name);
            write_new(&path, bytes, true).map_err(|error| unusable(&path, &error))?;
        }
        let restored = verify(&restoring.data)?;
        if let Some(first) = restored.problems.first() {
            return Err(Error::Damaged(format!(
                "the restored data has {} problems, the first one: {first}",
                restored.problems.len()
            )));
        }
        report = Some(restored);
        restoring.note(Stage::Moving)?;
    }
    let moved = restoring.moved;
    restoring.move_in(&directory)?;
    drop(directory);
    let frames = manifest.head.lsn.saturating_sub(manifest.folded.lsn);
    Ok(RestoreSummary {
        name,
        made_at: Timestamp(manifest.made_at),
        moved,
        frames,
        report,
        files: files.into_iter().map(|(name, _)| name).collect(),
    })
}

struct Restoring<'a> {
    what: &'a Restore,
    vault: &'a dyn Vault,
    manifest: &'a Manifest,
    /// The folder `restoring/`.
    work: PathBuf,
    data: PathBuf,
    state: State,
    on_progress: OnProgress<'a>,
    moved: TransferProgress,
    /// Bytes restored since progress was written down.
    unnoted: u64,
}

impl Restoring<'_> {
    fn before(&self, step: Step) -> Result<(), Error> {
        match &self.what.faults {
            Some(faults) => faults.before(step).map_err(Error::Io),
            None => Ok(()),
        }
    }

    fn note(&mut self, stage: Stage) -> Result<(), Error> {
        self.before(Step::RestoreProgress)?;
        self.state.stage = stage;
        write_state(&self.work, &self.state)
    }

    /// Restores all chunks, then writes how far the books are folded and how far the log goes.
    fn read(&mut self) -> Result<(), Error> {
        let data = Directory::lock(&self.data)?;
        let database = database::open(&data, CACHE_BYTES, Some(200))?;
        let read = caught(|| self.read_into(&database, &data));
        if matches!(read, Err(Error::Io(_))) {
            // As with any failed write: sled is not dropped, for that would write once more.
            std::mem::forget(database.sled.clone());
        }
        read
    }

    fn read_into(&mut self, database: &Database, data: &Directory) -> Result<(), Error> {
        let store = Store::open(&database.sled, Tuning::default())?;
        let options = Options::new(data.root());
        let frames = SledFrames::open(&database.sled, &database.log_file, &options)?;
        let manifest = self.manifest;
        let mut place = 0_u64;
        for section in &manifest.sections {
            let books = Section::all().find(|it| it.name() == section.name);
            for chunk in &section.chunks {
                place = place.saturating_add(1);
                let already_restored = place <= self.state.chunks;
                if !already_restored {
                    self.before(Step::RestoreChunk)?;
                    let content = self.vault.get(chunk)?;
                    let records = records::read(&content)?;
                    match (books, section.name.as_str()) {
                        (Some(books), _) => books.write(&store, &records)?,
                        (None, FRAMES) => put_frames(&frames, &records)?,
                        (None, FILES) => {}
                        (None, other) => {
                            return Err(Error::Unusable(format!(
                                "the backup has a section {other}, which this version of Scrip does not \
                                 know: use a newer one"
                            )));
                        }
                    }
                    self.unnoted = self.unnoted.saturating_add(content.len() as u64);
                    self.moved.records = self.moved.records.saturating_add(records.len() as u64);
                    self.moved.bytes = self.moved.bytes.saturating_add(content.len() as u64);
                }
                self.moved.chunks = place;
                if !(self.on_progress)(&self.moved) {
                    return Err(stopped());
                }
                if self.unnoted >= NOTED_EVERY {
                    make_durable(database)?;
                    self.state.chunks = place;
                    self.unnoted = 0;
                    self.note(Stage::Reading)?;
                }
            }
        }
        copied::set_last_fold(&store, manifest.fold)?;
        write_meta(&database.sled, &manifest.folded.place()?)?;
        make_durable(database)?;
        let mut watermark = Watermark::open(&data.watermark())?;
        watermark.write(manifest.head.place()?)?;
        self.state.chunks = place;
        self.note(Stage::Folding)
    }

    /// Opens what was restored, which checks the log and folds it over the books.
    fn fold(&self) -> Result<(), Error> {
        self.before(Step::RestoreFold)?;
        let mut options = Options::new(self.data.clone());
        options.filter_bytes = 0;
        let data = Directory::lock(&self.data)?;
        let database = database::open(&data, CACHE_BYTES, Some(options.flush_every_ms))?;
        let watermark = Watermark::open(&data.watermark())?;
        let frames = SledFrames::open(&database.sled, &database.log_file, &options)?;
        let (books, _) =
            checkpoint::recover(&options, data, database, &watermark, Box::new(frames))?;
        let database = &books.disk.database;
        if let Err(error) = make_durable(database) {
            // As with any failed write: sled is not dropped, for that would write once more.
            std::mem::forget(database.sled.clone());
            return Err(error);
        }
        drop(books);
        self.leave_a_gap()
    }

    /// Lets the log go on past every number that it may have reached after the backup. Those events are lost, but
    /// they may have been delivered, and new ones must not have their numbers.
    fn leave_a_gap(&self) -> Result<(), Error> {
        let data = Directory::lock(&self.data)?;
        let database = database::open(&data, CACHE_BYTES, None)?;
        let folded = recovery::read_meta(&database.sled)?;
        let lsn = self.manifest.head.lsn.saturating_add(GAP);
        if folded.lsn < lsn {
            let place = FramePosition { lsn, ..folded };
            write_meta(&database.sled, &place)?;
            make_durable(&database)?;
            Watermark::open(&data.watermark())?.write(place)?;
        }
        Ok(())
    }

    /// Moves everything to its place, the database last.
    fn move_in(&self, directory: &Directory) -> Result<(), Error> {
        let root = directory.root();
        let mut names = Vec::new();
        if self.data.exists() {
            for entry in fs::read_dir(&self.data).map_err(|error| unusable(&self.data, &error))? {
                let entry = entry.map_err(|error| unusable(&self.data, &error))?;
                names.push(entry.file_name());
            }
        }
        names.retain(|name| name != "lock");
        names.sort_by_key(|name| name == "sled");
        for name in names {
            self.before(Step::RestoreMove)?;
            if name == "sled" {
                // Everything that goes with the database is durable in its place before it.
                sync(root)?;
            }
            let to = root.join(&name);
            fs::rename(self.data.join(&name), &to).map_err(|error| unusable(&to, &error))?;
        }
        sync(root)?;
        self.before(Step::RestoreMove)?;
        // Renamed first, and then removed: half removed it would be taken for half restored.
        let over = root.join(FINISHED_DIR);
        if over.exists() {
            fs::remove_dir_all(&over).map_err(|error| unusable(&over, &error))?;
        }
        fs::rename(&self.work, &over).map_err(|error| unusable(&over, &error))?;
        sync(root)?;
        self.before(Step::RestoreTidy)?;
        fs::remove_dir_all(&over).map_err(|error| unusable(&over, &error))?;
        sync(root)
    }
}

/// Inserts frames, each of which must be sound and follow the one before in its chunk. Opening the
/// log checks that none is missing.
fn put_frames(frames: &SledFrames, records: &[copied::RawRecord<'_>]) -> Result<(), Error> {
    let mut before: Option<FramePosition> = None;
    for (key, bytes) in records {
        let frame = frame::decode(bytes)?;
        let follows = before.is_none_or(|before| before.hash == frame.before);
        if frame.lsn.to_be_bytes() != *key || !follows || bytes.len() > frame::MAX_BYTES {
            return Err(Error::Damaged(format!(
                "the backup's frame {} is out of place",
                frame.lsn
            )));
        }
        before = Some(FramePosition {
            lsn: frame.lsn,
            hash: frame::hash(bytes),
        });
        frames.put(frame.lsn, bytes)?;
    }
    Ok(())
}

fn make_durable(database: &Database) -> Result<(), Error> {
    database.flush("making the restored data durable")?;
    database.sync("making the restored data durable")
}
