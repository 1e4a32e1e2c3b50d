//! The directory that backups are kept in:
//!
//! ```text
//! scrip-backup.json     marks the directory and says whose data it is; locked while it is in use
//! chunks/3f/3fa4…       a chunk, compressed with zstd, named by the SHA-256 of its content
//! backups/NAME.json     a manifest; the backup exists once it does
//! partial/              files that are being written; they do not count
//! ```
//!
//! One process at a time adds to it, and none removes what another reads: it is locked.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    chunk::{MAX_COMPRESSED_BYTES, is_digest},
    manifest::Manifest,
    repository::{Repository, is_name, named},
};
use crate::{
    error::Error,
    files::{entries, make_private, sync, unusable, write_new},
};

const MARK: &str = "scrip-backup.json";
const CHUNKS: &str = "chunks";
const BACKUPS: &str = "backups";
const PARTIAL: &str = "partial";
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Mark {
    format: u32,
    /// Identifies the data: a server neither adds to nor removes backups of another's.
    owner: String,
}

/// A directory of backups, locked until this is dropped.
pub struct DirectoryRepository {
    root: PathBuf,
    /// The operating system releases the lock with the descriptor.
    _lock: File,
}

impl DirectoryRepository {
    /// Opens a directory to add to it, making it first where there is nothing. `owner` identifies the data.
    /// # Errors
    /// It is in use, holds something else or backups of another owner's data, or cannot be read.
    pub fn open_or_make(root: &Path, owner: &str) -> Result<Self, Error> {
        let path = root.join(MARK);
        if !path.exists() {
            make(root, owner)?;
        }
        let repository = Self::open(root, true)?;
        let mark = repository.mark()?;
        if mark.owner != owner {
            return Err(Error::Unusable(format!(
                "{} holds backups of other data: give this server a directory of its own",
                root.display()
            )));
        }
        repository.clear_partial()?;
        Ok(repository)
    }

    /// Opens a directory to read from it.
    /// # Errors
    /// It is being added to, holds no backups, or cannot be read.
    pub fn open_to_read(root: &Path) -> Result<Self, Error> {
        let repository = Self::open(root, false)?;
        repository.mark()?;
        Ok(repository)
    }

    fn open(root: &Path, alone: bool) -> Result<Self, Error> {
        let path = root.join(MARK);
        let lock = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Unusable(format!(
                "{} holds no backups: {MARK} is missing",
                root.display()
            )),
            _ => unusable(&path, &error),
        })?;
        let locked = match alone {
            true => lock.try_lock(),
            false => lock.try_lock_shared(),
        };
        match locked {
            Ok(()) => Ok(Self {
                root: root.to_path_buf(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(Error::Unusable(format!(
                "{} is in use by another backup or restore",
                root.display()
            ))),
            Err(TryLockError::Error(error)) => Err(unusable(&path, &error)),
        }
    }

    fn mark(&self) -> Result<Mark, Error> {
        let path = self.root.join(MARK);
        let bytes = fs::read(&path).map_err(|error| unusable(&path, &error))?;
        let mark: Mark = serde_json::from_slice(&bytes)
            .map_err(|error| Error::Damaged(format!("{}: {error}", path.display())))?;
        match mark.format {
            FORMAT => Ok(mark),
            other => Err(Error::Unusable(format!(
                "{} has format {other}, this version of Scrip reads {FORMAT}: use a newer one",
                path.display()
            ))),
        }
    }

    fn clear_partial(&self) -> Result<(), Error> {
        let partial = self.root.join(PARTIAL);
        for entry in fs::read_dir(&partial).map_err(|error| unusable(&partial, &error))? {
            let path = entry.map_err(|error| unusable(&partial, &error))?.path();
            fs::remove_file(&path).map_err(|error| unusable(&path, &error))?;
        }
        Ok(())
    }

    /// Writes a file under another name and renames it, so that it is complete once it is there.
    fn write(&self, path: &Path, bytes: &[u8], for_good: bool) -> Result<(), Error> {
        let name = path.file_name().unwrap_or_default();
        let partial = self.root.join(PARTIAL).join(name);
        write_new(&partial, bytes, for_good).map_err(|error| unusable(&partial, &error))?;
        fs::rename(&partial, path).map_err(|error| unusable(path, &error))
    }

    fn chunk_path(&self, name: &str) -> PathBuf {
        let folder = name.get(..2).unwrap_or("xx");
        self.root.join(CHUNKS).join(folder).join(name)
    }

    fn manifest_path(&self, name: &str) -> PathBuf {
        self.root.join(BACKUPS).join(format!("{name}.json"))
    }
}

impl Repository for DirectoryRepository {
    fn label(&self) -> String {
        self.root.display().to_string()
    }

    fn chunk_label(&self, name: &str) -> String {
        self.chunk_path(name).display().to_string()
    }

    fn claim(&self, name: &str) -> Result<bool, Error> {
        Ok(self.chunk_path(name).exists())
    }

    fn write_chunk(&self, name: &str, compressed: &[u8]) -> Result<(), Error> {
        let path = self.chunk_path(name);
        let folder = path.parent().unwrap_or(&self.root);
        if !folder.is_dir() {
            make_private(folder)?;
        }
        self.write(&path, compressed, false)
    }

    fn read_chunk(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.chunk_path(name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&path, &error)),
        };
        let mut bytes = Vec::new();
        file.take(MAX_COMPRESSED_BYTES as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| unusable(&path, &error))?;
        Ok(Some(bytes))
    }

    fn sync(&self) -> Result<(), Error> {
        let root = File::open(&self.root).map_err(|error| unusable(&self.root, &error))?;
        // One call for all of them, which also reports errors since the root was opened.
        rustix::fs::syncfs(root)
            .map_err(|error| Error::Io(format!("syncing {}: {error}", self.root.display())))
    }

    fn put_manifest(&self, name: &str, manifest: &Manifest) -> Result<(), Error> {
        let path = self.manifest_path(name);
        if path.exists() {
            return Err(Error::Unusable(format!("{} exists", path.display())));
        }
        self.write(&path, &manifest.encode()?, true)?;
        sync(path.parent().unwrap_or(&self.root))
    }

    fn manifest(&self, name: &str) -> Result<Manifest, Error> {
        let path = self.manifest_path(name);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Error::Unusable(format!("{} has no backup {name}", self.root.display()))
            }
            _ => unusable(&path, &error),
        })?;
        Manifest::decode(&bytes)
            .map_err(|why| Error::Damaged(format!("manifest {}: {why}", path.display())))
    }

    fn manifests(&self) -> Result<Vec<String>, Error> {
        let folder = self.root.join(BACKUPS);
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|error| unusable(&folder, &error))? {
            let entry = entry.map_err(|error| unusable(&folder, &error))?;
            if let Some(name) = entry.file_name().to_str()
                && let Some(name) = name.strip_suffix(".json")
                && is_name(name)
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.manifest_path(name);
        fs::remove_file(&path).map_err(|error| unusable(&path, &error))
    }

    fn sweep(&self) -> Result<u64, Error> {
        let Some(named) = named(self)? else {
            return Ok(0);
        };
        // No chunk is removed before the manifests that named it are durably gone.
        sync(&self.root.join(BACKUPS))?;
        let mut removed = 0_u64;
        let chunks = self.root.join(CHUNKS);
        for folder in entries(&chunks)? {
            for path in entries(&folder)? {
                let name = path.file_name().and_then(|name| name.to_str());
                if name.is_some_and(|name| is_digest(name) && !named.contains(name)) {
                    fs::remove_file(&path).map_err(|error| unusable(&path, &error))?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}

/// Makes the directory, only where there is nothing else: it may be somebody's folder.
fn make(root: &Path, owner: &str) -> Result<(), Error> {
    if root.exists() {
        let own_names = [
            CHUNKS,
            BACKUPS,
            PARTIAL,
            "scrip-backup.json.new",
            "lost+found",
        ];
        for path in entries(root)? {
            let name = path.file_name().and_then(|name| name.to_str());
            if !name.is_some_and(|name| own_names.contains(&name)) {
                return Err(Error::Unusable(format!(
                    "{} holds other files and no backups: name a directory that is empty or does not exist",
                    root.display()
                )));
            }
        }
    }
    for folder in ["", CHUNKS, BACKUPS, PARTIAL] {
        make_private(&root.join(folder))?;
    }
    let mark = Mark {
        format: FORMAT,
        owner: owner.into(),
    };
    let text = serde_json::to_vec(&mark).map_err(|error| Error::Io(error.to_string()))?;
    let (path, new) = (root.join(MARK), root.join("scrip-backup.json.new"));
    write_new(&new, &text, true).map_err(|error| unusable(&new, &error))?;
    fs::rename(&new, &path).map_err(|error| unusable(&path, &error))?;
    sync(root)?;
    // The parent holds the directory's own name.
    match root.canonicalize() {
        Ok(root) => root.parent().map_or(Ok(()), sync),
        Err(error) => Err(unusable(root, &error)),
    }
}
