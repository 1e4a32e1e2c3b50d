//! Writes an image of a power cut to real files, which are kept when a check of them fails.

use super::disk::Image;
use std::{
    fs::OpenOptions,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// Where images are written if it exists and is large enough: memory is fast, and there are many images.
const MEMORY: &str = "/dev/shm";
const ENOUGH_BYTES: u64 = 2 << 30;

/// Length of zeros that are left out of a file, as a hole.
const HOLE_BYTES: usize = 4096;

/// A data directory that was written from an image.
pub(crate) struct ImageFolder {
    folder: Option<TempDir>,
}

impl ImageFolder {
    /// Writes the image to a new folder.
    pub(crate) fn out(image: &Image) -> Self {
        let folder = tempfile::tempdir_in(place()).expect("a temporary folder");
        let data_dir = folder.path().join("data");
        std::fs::create_dir(&data_dir).unwrap();
        for path in &image.folders {
            std::fs::create_dir_all(data_dir.join(path)).unwrap();
        }
        for (path, contents) in &image.files {
            write(&data_dir.join(path), contents);
        }
        Self {
            folder: Some(folder),
        }
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder
            .as_ref()
            .expect("it is kept until dropped")
            .path()
            .join("data")
    }
}

impl Drop for ImageFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take().filter(|_| std::thread::panicking()) {
            eprintln!(
                "the image, as the server left it, is kept in {}",
                folder.keep().display()
            );
        }
    }
}

fn write(path: &Path, contents: &[u8]) {
    // Modes are not recorded; only the owner ever needs to read a data directory.
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .unwrap();
    file.set_len(contents.len() as u64).unwrap();
    for (place, block) in contents.chunks(HOLE_BYTES).enumerate() {
        if block.iter().any(|byte| *byte != 0) {
            file.write_all_at(block, (place * HOLE_BYTES) as u64)
                .unwrap();
        }
    }
}

fn place() -> PathBuf {
    let memory = rustix::fs::statvfs(MEMORY)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) > ENOUGH_BYTES);
    if memory {
        MEMORY.into()
    } else {
        std::env::temp_dir()
    }
}
