//! The steps of a restore: everything is made in a folder inside the data directory (`restoring/`), opened, applied and
//! verified there, and only then moved to its place.

use std::{fs, path::PathBuf, sync::Arc};

use super::{
    FILES, FRAMES,
    attempt::begin,
    manifest::Manifest,
    records,
    repository::Repository,
    state::{FINISHED_DIR, Stage, State},
    stopped,
};
use crate::{
    books::{
        checkpoint,
        copied::{self, Section},
        store::Store,
        verify::{report::VerifyReport, verify},
    },
    contract::{BesideFile, OnProgress, TransferProgress},
    error::Error,
    faults::{Faults, Step},
    files::{sync, unusable, write_new},
    frames::{FramePosition, Frames, SledFrames, frame, read_behind},
    log::{
        database::{self, Database},
        lock::Directory,
        recovery::{self, write_meta},
        watermark::Watermark,
    },
    options::Options,
    sled_error::caught,
    tuning::Tuning,
};

/// The folder in `restoring/` where the data directory is made.
const DATA: &str = "data";
/// Progress is written down after this many bytes.
const NOTE_INTERVAL_BYTES: u64 = 64 << 20;
/// Memory for sled's page cache.
const CACHE_BYTES: u64 = 64 << 20;
/// Frame numbers that a log skips after a restore: 5,000 frames a second for five months. There is
/// room for four thousand such gaps.
const GAP: u64 = 1 << 36;

pub(super) struct Source<'a> {
    pub(super) repository: &'a dyn Repository,
    pub(super) name: &'a str,
    pub(super) manifest: &'a Manifest,
    /// The log that the books go on with, which has the frames behind them. `None`: the backup has these, and the log
    /// goes on by itself.
    pub(super) log: Option<&'a dyn Frames>,
    pub(super) files: &'a [BesideFile],
    pub(super) faults: &'a Faults,
}

/// Restores it, or goes on where an earlier attempt stopped. Returns how much was read, and what verifying it found unless
/// an earlier attempt did that.
pub(super) fn rebuild(
    directory: &Directory,
    source: &Source<'_>,
    on_progress: OnProgress<'_>,
) -> Result<(TransferProgress, Option<VerifyReport>), Error> {
    let first = State {
        backup: source.name.into(),
        chunks: 0,
        stage: Stage::Reading,
        follows: source.log.is_some(),
    };
    let work = directory.restoring();
    let mut rebuild = Rebuild {
        source,
        data: work.join(DATA),
        state: begin(directory, first, source.files, source.faults)?,
        work,
        on_progress,
        moved: TransferProgress {
            of_bytes: source.manifest.bytes(),
            ..TransferProgress::default()
        },
        unnoted: 0,
    };
    if rebuild.state.stage == Stage::Reading {
        rebuild.read()?;
    }
    let mut report = None;
    if rebuild.state.stage == Stage::Checkpointing {
        rebuild.checkpoint()?;
        for (name, bytes) in source.files {
            let path = rebuild.data.join(name);
            write_new(&path, bytes, true).map_err(|error| unusable(&path, &error))?;
        }
        let restored = verify(&rebuild.data)?;
        if let Some(first) = restored.problems.first() {
            return Err(Error::Damaged(format!(
                "the restored data has {} problems, the first one: {first}",
                restored.problems.len()
            )));
        }
        report = Some(restored);
        rebuild.note(Stage::Moving)?;
    }
    move_in(directory, source.faults)?;
    Ok((rebuild.moved, report))
}

struct Rebuild<'a> {
    source: &'a Source<'a>,
    work: PathBuf,
    data: PathBuf,
    state: State,
    on_progress: OnProgress<'a>,
    moved: TransferProgress,
    /// Bytes restored since progress was written down.
    unnoted: u64,
}

impl Rebuild<'_> {
    fn before(&self, step: Step) -> Result<(), Error> {
        self.source.faults.before(step)
    }

    fn note(&mut self, stage: Stage) -> Result<(), Error> {
        self.before(Step::RestoreProgress)?;
        self.state.stage = stage;
        self.state.write(&self.work)
    }

    /// Restores all chunks, then writes how far the books are applied and how far the log goes.
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
        let manifest = self.source.manifest;
        let mut place = 0_u64;
        for section in &manifest.sections {
            let books = Section::all().find(|it| it.name() == section.name);
            for chunk in &section.chunks {
                place += 1;
                let already_restored = place <= self.state.chunks;
                if !already_restored {
                    self.before(Step::RestoreChunk)?;
                    let content = self.source.repository.get(chunk)?;
                    let records = records::read(&content)?;
                    match (books, section.name.as_str()) {
                        (Some(books), _) => books.write(&store, &records)?,
                        (None, FRAMES) if self.source.log.is_none() => {
                            put_frames(&frames, &records)?
                        }
                        (None, FRAMES | FILES) => {}
                        (None, other) => {
                            return Err(Error::Unusable(format!(
                                "the backup has a section {other}, which this version of Scrip does not \
                                 know: use a newer one"
                            )));
                        }
                    }
                    self.unnoted += content.len() as u64;
                    self.moved.records += records.len() as u64;
                    self.moved.bytes += content.len() as u64;
                }
                self.moved.chunks = place;
                if !(self.on_progress)(&self.moved) {
                    return Err(stopped());
                }
                if self.unnoted >= NOTE_INTERVAL_BYTES {
                    make_durable(database)?;
                    self.state.chunks = place;
                    self.unnoted = 0;
                    self.note(Stage::Reading)?;
                }
            }
        }
        if let Some(log) = self.source.log {
            self.take_frames(log, &frames)?;
        }
        copied::set_last_checkpoint(&store, manifest.checkpoint)?;
        write_meta(&database.sled, &manifest.applied.place()?)?;
        make_durable(database)?;
        let mut watermark = Watermark::open(&data.watermark())?;
        watermark.write(manifest.head.place()?)?;
        self.state.chunks = place;
        self.note(Stage::Checkpointing)
    }

    /// Takes the frames that make the copy consistent from the log that the books go on with.
    fn take_frames(&self, log: &dyn Frames, frames: &SledFrames) -> Result<(), Error> {
        let manifest = self.source.manifest;
        let (mut last, head) = (manifest.applied.place()?, manifest.head.place()?);
        while last.lsn < head.lsn {
            self.before(Step::RestoreFrame)?;
            let bytes = read_behind(log, last)?;
            last = last.next(&bytes)?;
            frames.put(last.lsn, &bytes)?;
            if !(self.on_progress)(&self.moved) {
                return Err(stopped());
            }
        }
        if last != head {
            return Err(Error::Damaged(format!(
                "the log at frame {}: it is not the one that snapshot {} goes on to",
                head.lsn, self.source.name
            )));
        }
        Ok(())
    }

    /// Opens what was restored, which checks the log and applies it over the books.
    fn checkpoint(&self) -> Result<(), Error> {
        self.before(Step::RestoreCheckpoint)?;
        let mut options = Options::new(self.data.clone());
        options.filter_bytes = 0;
        let data = Directory::lock(&self.data)?;
        let database = database::open(&data, CACHE_BYTES, Some(options.flush_every_ms))?;
        let watermark = Watermark::open(&data.watermark())?;
        let frames = SledFrames::open(&database.sled, &database.log_file, &options)?;
        let (books, _) =
            checkpoint::recover(&options, data, database, &watermark, Arc::new(frames))?;
        let database = &books.disk.database;
        if let Err(error) = make_durable(database) {
            // As with any failed write: sled is not dropped, for that would write once more.
            std::mem::forget(database.sled.clone());
            return Err(error);
        }
        drop(books);
        match self.source.log {
            Some(_) => Ok(()),
            None => self.leave_a_gap(),
        }
    }

    /// Lets the log go on past every number that it may have reached after the backup. Those events are lost, but
    /// they may have been delivered, and new ones must not have their numbers.
    fn leave_a_gap(&self) -> Result<(), Error> {
        let data = Directory::lock(&self.data)?;
        let database = database::open(&data, CACHE_BYTES, None)?;
        let applied = recovery::read_meta(&database.sled)?;
        let lsn = self.source.manifest.head.lsn.saturating_add(GAP);
        if applied.lsn < lsn {
            let place = FramePosition { lsn, ..applied };
            write_meta(&database.sled, &place)?;
            make_durable(&database)?;
            Watermark::open(&data.watermark())?.write(place)?;
        }
        Ok(())
    }
}

/// Moves everything that was restored to its place, the database last.
pub(super) fn move_in(directory: &Directory, faults: &Faults) -> Result<(), Error> {
    let (root, work) = (directory.root(), directory.restoring());
    let data = work.join(DATA);
    let mut names = Vec::new();
    if data.exists() {
        for entry in fs::read_dir(&data).map_err(|error| unusable(&data, &error))? {
            let entry = entry.map_err(|error| unusable(&data, &error))?;
            names.push(entry.file_name());
        }
    }
    names.retain(|name| name != "lock");
    names.sort_by_key(|name| name == "sled");
    for name in names {
        faults.before(Step::RestoreMove)?;
        if name == "sled" {
            // Everything that goes with the database is durable in its place before it.
            sync(root)?;
        }
        let to = root.join(&name);
        fs::rename(data.join(&name), &to).map_err(|error| unusable(&to, &error))?;
    }
    sync(root)?;
    faults.before(Step::RestoreMove)?;
    // Renamed first, and then removed: half removed it would be taken for half restored.
    let over = root.join(FINISHED_DIR);
    if over.exists() {
        fs::remove_dir_all(&over).map_err(|error| unusable(&over, &error))?;
    }
    fs::rename(&work, &over).map_err(|error| unusable(&over, &error))?;
    sync(root)?;
    faults.before(Step::RestoreTidy)?;
    fs::remove_dir_all(&over).map_err(|error| unusable(&over, &error))?;
    sync(root)
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
