//! Where data directories are put for a while, and how much disk they take.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::error::{Context, Result};

/// A folder of this run's own. Dropping it removes it, and what had to be made around it.
pub(crate) struct Place {
    path: PathBuf,
    /// The folder around it, if it was not there before.
    made: Option<PathBuf>,
}

impl Place {
    /// Makes one in `parent`, else in the build directory of the current folder, else in
    /// `./.scrip-bench`: on the disk that the user works on, not on a tmpfs.
    pub(crate) fn make(parent: Option<&Path>) -> Result<Self> {
        let parent = parent.map_or_else(default_parent, Path::to_path_buf);
        let path = parent.join(format!("run-{}", std::process::id()));
        let made = (!parent.exists()).then(|| parent.clone());
        fs::create_dir_all(&parent).context(parent.display())?;
        // Not `_all`: a folder that was there before is not ours to remove.
        fs::create_dir(&path).context(path.display())?;
        Ok(Self { path, made })
    }

    /// A path in it for a data directory that the server makes.
    pub(crate) fn data(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("{} could not be removed: {error}", self.path.display());
        }
        // Another run may be using it: then it is not empty and stays.
        if let Some(made) = &self.made {
            let _ = fs::remove_dir(made);
        }
    }
}

fn default_parent() -> PathBuf {
    if Path::new("target").is_dir() {
        Path::new("target").join("scrip-bench")
    } else {
        PathBuf::from(".scrip-bench")
    }
}

/// Bytes that a folder takes on the disk, as `du` counts them.
pub(crate) fn disk_use(folder: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder).context(folder.display())? {
        let entry = entry?;
        // A file may go while we look: the server is alive and tidies up.
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
