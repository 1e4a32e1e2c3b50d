//! Opens sled the way it must be opened. Files that sled does not sync when it creates a database
//! are synced here, and a new database takes its place complete or not at all.

use std::{
    fs::{self, File, OpenOptions},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{lock::Directory, watermark::Watermark};
use crate::{
    error::Error,
    files::{sync, unusable},
    sled_error::{failed, words},
};

/// With smaller segments sled writes large leaves into unsynced files of their own. Fixed for the life of a database.
const SEGMENT_BYTES: usize = 8 << 20;
/// How long sled's threads of an earlier opening in this process may take to release its lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Ending of a snapshot's name until sled has written and synced all of it.
const UNFINISHED_SNAPSHOT: &str = "generating";

#[derive(Clone)]
pub(crate) struct Database {
    pub sled: sled::Db,
    /// A descriptor of our own, open since before the first write: Linux reports a write-back
    /// error once to each descriptor, and sled's own threads swallow theirs.
    pub file: Arc<File>,
    /// Another descriptor, for the log's thread alone: an error that a checkpoint got on the
    /// first is not reported there again.
    pub log_file: Arc<File>,
}

impl Database {
    /// Makes all that was written durable; `what` names it in an error.
    pub(crate) fn flush(&self, what: &str) -> Result<(), Error> {
        let flushed = self.sled.flush().map(drop);
        flushed.map_err(|error| failed(what, &error))
    }

    /// Reports write errors that sled's own threads swallowed.
    pub(crate) fn sync(&self, what: &str) -> Result<(), Error> {
        let synced = self.file.sync_data();
        synced.map_err(|error| Error::Io(format!("{what}: {error}")))
    }
}

/// Opens the database in a locked directory, making it first if there is none.
pub(crate) fn open(
    directory: &Directory,
    cache_bytes: u64,
    flush_every_ms: Option<u64>,
) -> Result<Database, Error> {
    let path = directory.database();
    if !path.exists() {
        create(directory)?;
    }
    let file = own_descriptor(&path)?;
    let log_file = own_descriptor(&path)?;
    let config = config(&path)
        .cache_capacity(cache_bytes)
        .flush_every_ms(flush_every_ms);
    remove_unfinished_snapshots(&path)?;
    let sled = open_sled(&config)?;
    check_blobs(&path)?;
    Ok(Database {
        sled,
        file: Arc::new(file),
        log_file: Arc::new(log_file),
    })
}

fn config(path: &Path) -> sled::Config {
    sled::Config::new().path(path).segment_size(SEGMENT_BYTES)
}

/// Makes a database under another name and renames it once it is on the disk: a power cut in
/// between leaves a directory that was never used.
fn create(directory: &Directory) -> Result<(), Error> {
    if directory.watermark().exists() && Watermark::open(&directory.watermark())?.place().lsn > 0 {
        return Err(Error::Unusable(format!(
            "{} is missing, but the watermark beside it says that the log was used: restore the \
             data directory as a whole",
            directory.database().display()
        )));
    }
    let new = directory.unfinished();
    if new.exists() {
        fs::remove_dir_all(&new).map_err(|error| unusable(&new, &error))?;
    }
    fs::create_dir_all(new.join("blobs")).map_err(|error| unusable(&new, &error))?;
    let file = own_descriptor(&new)?;
    let sled = open_sled(&config(&new).flush_every_ms(None))?;
    sled.flush()
        .map_err(|error| failed("a new database", &error))?;
    drop(sled);
    file.sync_all().map_err(|error| unusable(&new, &error))?;
    for name in ["conf", "blobs", "."] {
        sync(&new.join(name))?;
    }
    Watermark::create(&directory.watermark())?;
    // The watermark's name must be there whenever the database's is.
    sync(directory.root())?;
    let place = directory.database();
    fs::rename(&new, &place).map_err(|error| unusable(&place, &error))?;
    sync(directory.root())?;
    directory.root().parent().map_or(Ok(()), sync)
}

fn own_descriptor(path: &Path) -> Result<File, Error> {
    let path = path.join("db");
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path);
    file.map_err(|error| unusable(&path, &error))
}

/// Opens sled on a thread of its own: a flipped bit makes it panic, which must become an error.
fn open_sled(config: &sled::Config) -> Result<sled::Db, Error> {
    let started = Instant::now();
    loop {
        let attempt = config.clone();
        let result = thread::spawn(move || attempt.open()).join();
        match result {
            Ok(Ok(sled)) => return Ok(sled),
            // The directory is locked for us, so only this process can still hold sled's lock.
            Ok(Err(error))
                if error.to_string().contains("could not acquire lock")
                    && started.elapsed() < LOCK_TIMEOUT =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            Ok(Err(error)) => return Err(failed("the database does not open", &error)),
            Err(payload) => {
                return Err(Error::Damaged(format!(
                    "the database does not open ({}): restore it from a backup",
                    words(&*payload)
                )));
            }
        }
    }
}

/// Removes snapshots that a crash left unfinished. Whenever sled is opened it writes a snapshot of
/// how far its log goes, and renames it once it is on the disk. It means to skip an unfinished one,
/// but looks for another ending than it writes, takes it for the newest and does not open. Until
/// the rename the snapshot before still exists, and is of the same log.
fn remove_unfinished_snapshots(path: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(path).map_err(|error| unusable(path, &error))? {
        let file = entry.map_err(|error| unusable(path, &error))?.path();
        if file.extension().is_some_and(|it| it == UNFINISHED_SNAPSHOT) {
            fs::remove_file(&file).map_err(|error| unusable(&file, &error))?;
        }
    }
    Ok(())
}

/// Refuses a database with files in `blobs/`, which sled never syncs.
fn check_blobs(path: &Path) -> Result<(), Error> {
    let path = path.join("blobs");
    let mut entries = fs::read_dir(&path).map_err(|error| unusable(&path, &error))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Error::Damaged(format!(
            "{} is not empty: a value was too large for the database",
            path.display()
        ))),
    }
}
