//! Temporary folders for data directories, and how much disk space they take.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use tempfile::TempDir;

use super::error::{Context, Result};

/// A folder for this run in `parent`, otherwise in the build directory or in the current folder: on the disk that the
/// user works on, not on a tmpfs. Dropping it removes it.
pub(crate) fn for_this_run(parent: Option<&Path>) -> Result<TempDir> {
    let build = Path::new("target");
    let here = if build.is_dir() {
        build
    } else {
        Path::new(".")
    };
    let parent = parent.unwrap_or(here);
    fs::create_dir_all(parent).context(parent.display())?;
    let folder = tempfile::Builder::new()
        .prefix("scrip-bench-")
        .tempdir_in(parent);
    folder.context(parent.display())
}

/// Bytes that a folder takes on the disk, as `du` counts them.
pub(crate) fn disk_use(folder: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder).context(folder.display())? {
        let entry = entry?;
        // The server is running and may remove a file.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        total += if metadata.is_dir() {
            disk_use(&entry.path())?
        } else {
            metadata.blocks() * 512
        };
    }
    Ok(total)
}
