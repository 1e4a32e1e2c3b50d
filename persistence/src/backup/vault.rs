//! The directory that backups are kept in:
//!
//! ```text
//! scrip-backup.json     that it is one, of whose data; locked while somebody is at it
//! chunks/3f/3fa4…       a chunk, compressed with zstd, under the SHA-256 of what it holds
//! backups/NAME.json     a manifest: a whole backup, once it is there
//! partial/              what is being written; nothing in it counts
//! ```
//!
//! A chunk is written once, whichever backups name it. Whatever is read is held against its SHA-256, and
//! so is whatever is about to be named, also where an earlier backup wrote it: one that has gone bad since
//! is written again.

use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{manifest::Manifest, records::MAX_BYTES};
use crate::{
    contract::Error,
    lock::{sync, unusable},
};

/// That a directory holds backups.
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
    /// Whose data: a server does not add to, nor thin out, what is another's.
    owner: String,
}

/// A chunk's name: the SHA-256 of what it holds, in hexadecimal digits.
pub(super) type Name = String;

/// What became of a chunk that was put in.
pub(super) struct Put {
    pub(super) name: Name,
    /// Bytes that were written; 0: it was there.
    pub(super) written: u64,
}

/// The directory, ours until this is dropped.
pub(super) struct Vault {
    root: PathBuf,
    /// The operating system lets go of the lock with the descriptor.
    _lock: File,
}

impl Vault {
    /// Opens it to add to it, making it first where there is nothing.
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

    /// Opens it to read.
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

    /// Puts a chunk in, unless it is there and sound.
    pub(super) fn put(&self, content: &[u8]) -> Result<Put, Error> {
        let name = digest(content);
        let path = self.chunk_path(&name);
        if path.exists() {
            match self.get(&name) {
                Ok(_) => return Ok(Put { name, written: 0 }),
                Err(error) => {
                    tracing::warn!(%error, "A chunk of an earlier backup has gone bad: written again");
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
        Ok(Put {
            name,
            written: bytes.len() as u64,
        })
    }

    /// What a chunk holds.
    pub(super) fn get(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.chunk_path(name);
        let bad = |why: &str| Error::Damaged(format!("chunk {} {why}", path.display()));
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => bad("is missing"),
            _ => unusable(&path, &error),
        })?;
        let mut bytes = Vec::new();
        // Compressed it may be a little larger than what it holds, never twice as large.
        file.take((MAX_BYTES as u64).saturating_mul(2))
            .read_to_end(&mut bytes)
            .map_err(|error| unusable(&path, &error))?;
        let content = zstd::bulk::decompress(&bytes, MAX_BYTES)
            .map_err(|error| bad(&format!("is damaged: {error}")))?;
        match digest(&content) == name {
            true => Ok(content),
            false => Err(bad(
                "is damaged: it holds something else than its name says",
            )),
        }
    }

    /// Makes all chunks that were put in durable, and their names.
    pub(super) fn sync(&self) -> Result<(), Error> {
        let root = File::open(&self.root).map_err(|error| unusable(&self.root, &error))?;
        // One call for all of them, which also tells of errors that were met since the root was opened.
        rustix::fs::syncfs(root)
            .map_err(|error| Error::Io(format!("syncing {}: {error}", self.root.display())))
    }

    /// Writes a manifest: from then on the backup is there.
    pub(super) fn put_manifest(&self, name: &str, manifest: &Manifest) -> Result<(), Error> {
        let path = self.manifest_path(name);
        if path.exists() {
            return Err(Error::Unusable(format!("{} is there", path.display())));
        }
        self.write(&path, &manifest.encode()?, true)?;
        sync(path.parent().unwrap_or(&self.root))
    }

    /// A whole backup.
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

    /// Removes a backup; its chunks stay until nobody names them.
    pub(super) fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.manifest_path(name);
        fs::remove_file(&path).map_err(|error| unusable(&path, &error))
    }

    /// Removes the chunks that no backup names; how many.
    pub(super) fn sweep(&self, named: &BTreeSet<Name>) -> Result<u64, Error> {
        // No chunk goes before the manifests that named it are gone for good.
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

    /// Under another name first, so that what is there is whole.
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

/// Only where there is nothing else: what is in the way is not ours to write beside.
fn make(root: &Path, owner: &str) -> Result<(), Error> {
    if root.exists() {
        let known = [
            CHUNKS,
            BACKUPS,
            PARTIAL,
            "scrip-backup.json.new",
            "lost+found",
        ];
        for path in entries(root)? {
            let name = path.file_name().and_then(|name| name.to_str());
            if !name.is_some_and(|name| known.contains(&name)) {
                return Err(Error::Unusable(format!(
                    "{} holds other things and no backups: name a directory that is empty or not there",
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
    // Its own name, too, where it can be had.
    match root.canonicalize() {
        Ok(root) => root.parent().map_or(Ok(()), sync),
        Err(error) => Err(unusable(root, &error)),
    }
}

pub(super) fn make_private(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| unusable(folder, &error))
}

/// A file for its owner alone, in place of whatever has its name.
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

/// Whether this is what a chunk is called.
pub(super) fn is_digest(name: &str) -> bool {
    let digits = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 64 && name.bytes().all(digits)
}

/// Whether a backup may be called so: it becomes part of a path, and the order of names is that of time.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}
