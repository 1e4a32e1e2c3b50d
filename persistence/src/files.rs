//! Folders and files of a store: for its owner alone, and durable once they are written.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use crate::error::Error;

/// Makes the names in a folder survive a power cut.
/// # Errors
/// [`Error::Unusable`] when it cannot be opened or synced.
pub fn sync(folder: &Path) -> Result<(), Error> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(|error| unusable(folder, &error))
}

/// Makes a folder that only its owner can enter, and those above it.
/// # Errors
/// [`Error::Unusable`] when it cannot be made.
pub fn make_private(folder: &Path) -> Result<(), Error> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(|error| unusable(folder, &error))
}

/// Writes a file that only its owner can read, replacing a former one; synced if `for_good`.
/// # Errors
/// It cannot be written or synced.
pub fn write_new(path: &Path, bytes: &[u8], for_good: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    match for_good {
        true => file.sync_all(),
        false => Ok(()),
    }
}

/// The paths in a folder.
/// # Errors
/// [`Error::Unusable`] when it cannot be read.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect::<io::Result<Vec<_>>>()
    });
    read.map_err(|error| unusable(folder, &error))
}

/// The error of a path that the operating system refuses.
#[must_use]
pub fn unusable(path: &Path, error: &io::Error) -> Error {
    Error::Unusable(format!("{} cannot be used: {error}", path.display()))
}
