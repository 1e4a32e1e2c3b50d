//! A file for its owner alone that is complete or not there, and survives a power cut once it was written.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use tempfile::NamedTempFile;

/// Writes a temporary file, which is removed if that fails, and renames it over an existing one.
/// Only its owner may read it: `tempfile` sees to that.
/// # Errors
/// The file cannot be written, renamed or synced.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NamedTempFile::new_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    // Not `persist`: it calls the kernel past the C library, where the power-cut tests do not see it.
    let written = file.into_temp_path();
    fs::rename(&written, path)?;
    // Nothing is left under the temporary name to remove.
    drop(written.keep());
    sync_folder_of(path)
}

/// Makes the names in a path's folder durable.
/// # Errors
/// The folder cannot be opened or synced.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
