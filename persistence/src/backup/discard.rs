//! Empties a data directory of books that are of no use, so that others can be restored into it. From the first step on
//! until these are complete, `restoring/` is there: nothing is served from the directory, and it does not pass for a new
//! one. Only the store goes; the files beside it stay.

use std::{
    fs::{self, File},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::state::{FILE, FINISHED_DIR, Stage, State};
use crate::{
    error::Error,
    faults::{Faults, Step},
    files::{entries, make_private, sync, unusable},
    log::{
        lock::{DATABASE, Directory, RESTORING},
        watermark,
    },
};

/// `restoring/` before its state is in it.
const UNFINISHED_DIR: &str = "restoring.new";

/// How long threads of a store that was closed may hold its files.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Removes the books from a data directory, and how far their log was known to be durable, for good: the caller
/// knows that the log has all that they had. [`super::restore_member`] then makes others there. Where it was interrupted,
/// either of the two goes on. Waits until the threads of a store that this process has closed there have ended.
/// # Errors
/// [`Error::Unusable`] when the directory is in use, `scrip restore` has not finished there, or it cannot be written.
pub fn discard(dir: &Path, faults: &Faults) -> Result<(), Error> {
    await_closed(dir);
    let directory = Directory::lock(dir)?;
    if State::read(&directory).is_some_and(|state| !state.follows) {
        directory.check_whole()?;
    }
    empty(&directory, true, faults)
}

/// Waits until no thread of a store that was closed in this process writes to its files any more.
fn await_closed(root: &Path) {
    let began = Instant::now();
    let Ok(file) = File::open(root.join(DATABASE).join("db")) else {
        return;
    };
    while file.try_lock().is_err() && began.elapsed() < CLOSE_TIMEOUT {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether the books of a member are being discarded in this data directory, or made, and that was interrupted.
pub fn is_unfinished_member(dir: &Path) -> bool {
    State::read_in(&dir.join(RESTORING)).is_some_and(|state| state.follows)
}

/// Lets a directory whose books were discarded pass for a new one: its log has everything from the first frame on.
/// # Errors
/// [`Error::Unusable`] when the directory is in use, was not emptied, or cannot be written.
pub fn start_over(dir: &Path) -> Result<(), Error> {
    let directory = Directory::lock(dir)?;
    let work = directory.restoring();
    let is_emptied = |state: State| state.stage == Stage::Discarding;
    if !State::read(&directory).is_some_and(is_emptied) {
        return Err(Error::Unusable(format!(
            "{} was not emptied",
            dir.display()
        )));
    }
    // Renamed first: half removed it would be taken for a restore.
    let over = directory.root().join(FINISHED_DIR);
    fs::rename(&work, &over).map_err(|error| unusable(&over, &error))?;
    sync(directory.root())?;
    fs::remove_dir_all(&over).map_err(|error| unusable(&over, &error))
}

/// Removes everything of a store, also one that is being restored. Leaves `restoring/` with a state that says so.
pub(super) fn empty(directory: &Directory, follows: bool, faults: &Faults) -> Result<(), Error> {
    mark(directory, follows, faults)?;
    let (root, work) = (directory.root(), directory.restoring());
    let books = [directory.database(), directory.unfinished()];
    let beside = [watermark::FILE, FINISHED_DIR, UNFINISHED_DIR].map(|name| root.join(name));
    let mut inside = entries(&work)?;
    inside.retain(|path| !path.ends_with(FILE));
    for path in books.into_iter().chain(beside).chain(inside) {
        let Ok(kind) = fs::symlink_metadata(&path) else {
            continue;
        };
        faults.before(Step::DiscardRemove)?;
        let removed = match kind.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        removed.map_err(|error| unusable(&path, &error))?;
    }
    sync(&work)?;
    sync(root)
}

/// Says durably that the directory is being emptied, before anything is removed.
fn mark(directory: &Directory, follows: bool, faults: &Faults) -> Result<(), Error> {
    let state = State {
        backup: String::new(),
        chunks: 0,
        stage: Stage::Discarding,
        follows,
    };
    let work = directory.restoring();
    faults.before(Step::DiscardMark)?;
    if work.exists() {
        return state.write(&work);
    }
    // It appears with its state in it: one without would be of a restore that has not begun.
    let new = directory.root().join(UNFINISHED_DIR);
    make_private(&new)?;
    state.write(&new)?;
    faults.before(Step::DiscardMark)?;
    fs::rename(&new, &work).map_err(|error| unusable(&work, &error))?;
    sync(directory.root())
}
