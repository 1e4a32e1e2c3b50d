//! The data directory and who may use it: one process at a time.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::watermark;
use crate::{error::Error, files::unusable};

pub(crate) const DATABASE: &str = "sled";
/// The file that says which log elsewhere the books in it follow.
pub(crate) const MEMBERSHIP: &str = "cluster.json";
pub(crate) const RESTORING: &str = "restoring";

/// How long a lock that another process has is tried for.
const LOCK_TIMEOUT: Duration = Duration::from_millis(400);
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// A data directory, locked until this is dropped.
pub struct Directory {
    root: PathBuf,
    /// The operating system releases the lock with the descriptor, also when the process dies.
    _lock: File,
}

impl Directory {
    /// Makes the directory if it is not there, and locks it.
    /// # Errors
    /// [`Error::Unusable`] when another process uses it, or it cannot be made.
    pub fn lock(root: &Path) -> Result<Self, Error> {
        fs::create_dir_all(root).map_err(|error| unusable(root, &error))?;
        let path = root.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| unusable(&path, &error))?;
        match try_lock(&lock) {
            // Absolute, so that the parent can be synced too.
            Ok(()) => match root.canonicalize() {
                Ok(root) => Ok(Self { root, _lock: lock }),
                Err(error) => Err(unusable(root, &error)),
            },
            Err(TryLockError::WouldBlock) => Err(Error::Unusable(format!(
                "another Scrip is using {}: stop it first, or give this one its own directory",
                root.display()
            ))),
            Err(TryLockError::Error(error)) => Err(unusable(&path, &error)),
        }
    }

    /// `Err` if a restore into it is not finished.
    pub(crate) fn check_whole(&self) -> Result<(), Error> {
        let unfinished = self.restoring();
        match unfinished.exists() {
            true if self.is_member() => Err(Error::Unusable(format!(
                "rebuilding the local state in {} is not finished: start Scrip with its storage.url again, which goes on \
                     where it stopped",
                self.root.display()
            ))),
            true => Err(Error::Unusable(format!(
                "a restore into {} is not finished: run the same `scrip restore` again, which goes \
                 on where it stopped",
                self.root.display()
            ))),
            false => Ok(()),
        }
    }

    /// Whether the log is followed elsewhere, in a database.
    pub(crate) fn is_member(&self) -> bool {
        self.root.join(MEMBERSHIP).exists()
    }

    /// Where a restore works until everything is there.
    pub(crate) fn restoring(&self) -> PathBuf {
        self.root.join(RESTORING)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join(DATABASE)
    }

    /// Where a new database is made before it takes its place.
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.root.join("sled.new")
    }

    pub(crate) fn watermark(&self) -> PathBuf {
        self.root.join(watermark::FILE)
    }
}

/// Locks, waiting a little: a child that is being started has its parent's descriptors for an instant, also of
/// what the parent has just closed.
fn try_lock(lock: &File) -> Result<(), TryLockError> {
    let started = Instant::now();
    loop {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_TIMEOUT => {
                thread::sleep(LOCK_INTERVAL);
            }
            locked => return locked,
        }
    }
}

/// Whether a process uses this data directory now. Creates nothing.
/// # Errors
/// [`Error::Unusable`] when the lock cannot be opened or tried.
pub fn is_in_use(root: &Path) -> Result<bool, Error> {
    let path = root.join("lock");
    let lock = match File::open(&path) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(unusable(&path, &error)),
    };
    match lock.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(unusable(&path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_opener_sees_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_in_use(&dir.path().join("data")).unwrap());
        let first = Directory::lock(&dir.path().join("data")).unwrap();
        assert!(is_in_use(&dir.path().join("data")).unwrap());
        let second = Directory::lock(&dir.path().join("data"));
        let message = second.err().unwrap().to_string();
        assert!(message.contains("another Scrip is using"), "{message}");
        drop(first);
        Directory::lock(&dir.path().join("data")).unwrap();
    }
}
