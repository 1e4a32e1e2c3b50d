//! The directory that backups are kept in:
//!
//! ```text
//! scrip-backup.json     marks the directory and says whose data it is; locked while it is in use
//! chunks/3f/3fa4…       a chunk, compressed with zstd, named by the SHA-256 of its content
//! backups/NAME.json     a manifest; the backup exists once it does
//! partial/              files that are being written; they do not count
//! ```
//!
//! A chunk is written once, however many backups name it. A chunk is checked against its SHA-256 when it is read, and
//! when a backup is about to name it, even if an earlier backup wrote it: one that has gone bad is written again.

use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::manifest::Manifest;
use crate::{
    error::Error,
    log::lock::{sync, unusable},
};

/// The largest chunk. Limits what is read before its hash can be checked.
pub(super) const MAX_BYTES: usize = 8 << 20;
/// The file that marks a directory of backups.
const MARK: &str = "scrip-backup.json";
const CHUNKS: &str = "chunks";
const BACKUPS: &str = "backups";
const PARTIAL: &str = "partial";
const FORMAT: u32 = 1;
/// zstd's default: faster than the disk, and a fifth of the size of a ledger.
const LEVEL: i32 = 3;

#[derive(Serialize, Deserialize)]
struct Mark {
    format: u32,
    /// Identifies the data: a server neither adds to nor removes backups of another's.
    owner: String,
}

/// A chunk's name: the SHA-256 of what it holds, in hexadecimal digits.
pub(super) type Name = String;

/// The result of storing a chunk.
pub(super) struct StoredChunk {
    pub(super) name: Name,
    /// Compressed bytes that were written; 0: the chunk existed.
    pub(super) written: u64,
}

/// A directory of backups, locked until this is dropped.
pub(super) struct Vault {
    root: PathBuf,
    /// The operating system releases the lock with the descriptor.
    _lock: File,
}

impl Vault {
    /// Opens a directory to add to it, making it first where there is nothing.
    pub(super) fn open_or_make(root: &Path, owner: &str) -> Result<Self, Error> {
        let path = root.join(MARK);
        if !path.exists() {
            make(root, owner)?;
        }
        let vault = Self::open(root, true)?;
        let mark = vault.mark()?;
        if mark.owner != owner {
            return Err(Error::Unusable(format!(
                "{} holds backups of other data: give this server a directory of its own",
                root.display()
            )));
        }
        vault.clear_partial()?;
        Ok(vault)
    }

    /// Opens a directory to read from it.
    pub(super) fn open_to_read(root: &Path) -> Result<Self, Error> {
        let vault = Self::open(root, false)?;
        vault.mark()?;
        Ok(vault)
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

    /// Stores a chunk, unless it exists and is sound.
    pub(super) fn put(&self, content: &[u8]) -> Result<StoredChunk, Error> {
        let name = digest(content);
        let path = self.chunk_path(&name);
        if path.exists() {
            match self.get(&name) {
                Ok(_) => return Ok(StoredChunk { name, written: 0 }),
                Err(error) => {
                    tracing::warn!(%error, "A chunk of an earlier backup has gone bad and is written again");
                }
            }
        }
        let bytes = zstd::bulk::compress(content, LEVEL)
            .map_err(|error| Error::Io(format!("compressing a chunk: {error}")))?;
        let folder = path.parent().unwrap_or(&self.root);
        if !folder.is_dir() {
            make_private(folder)?;
        }
        self.write(&path, &bytes, false)?;
        if self.get(&name)? != content {
            return Err(Error::Io(format!(
                "{} does not hold what was written to it",
                path.display()
            )));
        }
        Ok(StoredChunk {
            name,
            written: bytes.len() as u64,
        })
    }

    /// A chunk's content, checked against its name.
    pub(super) fn get(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.chunk_path(name);
        let bad = |why: &str| Error::Damaged(format!("chunk {} {why}", path.display()));
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => bad("is missing"),
            _ => unusable(&path, &error),
        })?;
        let mut bytes = Vec::new();
        // Compressed it may be a little larger than its content, never twice as large.
        file.take((MAX_BYTES as u64).saturating_mul(2))
            .read_to_end(&mut bytes)
            .map_err(|error| unusable(&path, &error))?;
        let content = zstd::bulk::decompress(&bytes, MAX_BYTES)
            .map_err(|error| bad(&format!("is damaged: {error}")))?;
        match digest(&content) == name {
            true => Ok(content),
            false => Err(bad("is damaged: its content does not match its name")),
        }
    }

    /// Makes all stored chunks and their names durable.
    pub(super) fn sync(&self) -> Result<(), Error> {
        let root = File::open(&self.root).map_err(|error| unusable(&self.root, &error))?;
        // One call for all of them, which also reports errors since the root was opened.
        rustix::fs::syncfs(root)
            .map_err(|error| Error::Io(format!("syncing {}: {error}", self.root.display())))
    }

    /// Writes a manifest: from then on the backup exists.
    pub(super) fn put_manifest(&self, name: &str, manifest: &Manifest) -> Result<(), Error> {
        let path = self.manifest_path(name);
        if path.exists() {
            return Err(Error::Unusable(format!("{} exists", path.display())));
        }
        self.write(&path, &manifest.encode()?, true)?;
        sync(path.parent().unwrap_or(&self.root))
    }

    /// Reads the manifest of a backup.
    pub(super) fn manifest(&self, name: &str) -> Result<Manifest, Error> {
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

    /// The names of all backups, oldest first.
    pub(super) fn manifests(&self) -> Result<Vec<String>, Error> {
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

    /// Removes a backup's manifest; its chunks stay until [`Self::sweep`].
    pub(super) fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.manifest_path(name);
        fs::remove_file(&path).map_err(|error| unusable(&path, &error))
    }

    /// Removes the chunks that are not in `named`; returns how many.
    pub(super) fn sweep(&self, named: &BTreeSet<Name>) -> Result<u64, Error> {
        // No chunk is removed before the manifests that named it are durably gone.
        sync(&self.root.join(BACKUPS))?;
        let mut removed = 0_u64;
        let chunks = self.root.join(CHUNKS);
        for folder in entries(&chunks)? {
            for path in entries(&folder)? {
                let name = path.file_name().and_then(|name| name.to_str());
                if name.is_some_and(|name| is_digest(name) && !named.contains(name)) {
                    fs::remove_file(&path).map_err(|error| unusable(&path, &error))?;
                    removed = removed.saturating_add(1);
                }
            }
        }
        Ok(removed)
    }

    /// Writes a file under another name and renames it, so that it is whole once it is there.
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

pub(super) fn make_private(folder: &Path) -> Result<(), Error> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(|error| unusable(folder, &error))
}

/// Writes a file that only its owner can read, replacing a former one; synced if `for_good`.
pub(super) fn write_new(path: &Path, bytes: &[u8], for_good: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    match for_good {
        true => file.sync_all(),
        false => Ok(()),
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect::<io::Result<Vec<_>>>()
    });
    read.map_err(|error| unusable(folder, &error))
}

/// SHA-256 in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> Name {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether this has the form of a chunk's name.
pub(super) fn is_digest(name: &str) -> bool {
    let digits = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 64 && name.bytes().all(digits)
}

/// Whether this is a valid name of a backup, which becomes part of a path and sorts by time.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}
