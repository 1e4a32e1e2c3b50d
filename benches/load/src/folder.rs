//! Temporary folders for data directories, and how much disk space they take.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::error::{Context, Result};

/// A folder for this run. Dropping it removes it, and the folder around it if that was created, too.
pub(crate) struct TempFolder {
    path: PathBuf,
    /// The folder around it, if it was created.
    created: Option<PathBuf>,
}

impl TempFolder {
    /// Creates the folder in `parent`, otherwise in the build directory of the current folder, otherwise in
    /// `./.scrip-bench`: on the disk that the user works on, not on a tmpfs.
    pub(crate) fn create(parent: Option<&Path>) -> Result<Self> {
        let parent = match parent {
            Some(parent) => parent.to_owned(),
            None if Path::new("target").is_dir() => PathBuf::from("target/scrip-bench"),
            None => PathBuf::from(".scrip-bench"),
        };
        let path = parent.join(format!("run-{}", std::process::id()));
        let created = (!parent.exists()).then(|| parent.clone());
        fs::create_dir_all(&parent).context(parent.display())?;
        // Not `create_dir_all`: a folder that existed before must not be removed.
        fs::create_dir(&path).context(path.display())?;
        Ok(Self { path, created })
    }

    /// The path of a data directory, which the server creates.
    pub(crate) fn data(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("{} could not be removed: {error}", self.path.display());
        }
        // Another run may be using it: then it is not empty, and stays.
        if let Some(created) = &self.created {
            let _ = fs::remove_dir(created);
        }
    }
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
