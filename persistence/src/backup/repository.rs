//! Where backups are stored: chunks, each written once however many backups name it, and manifests. A chunk is checked against
//! its SHA-256 when it is read, and when a backup is about to name it, even if an earlier backup wrote it: a
//! corrupt one is written again.

use std::collections::BTreeSet;

use super::{
    chunk::{MAX_BYTES, digest},
    manifest::Manifest,
};
use crate::error::Error;

/// zstd's default: faster than the disk, and a fifth of the size of a ledger.
const LEVEL: i32 = 3;

/// The result of storing a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Its name: the SHA-256 of its content, in hexadecimal digits.
    pub name: String,
    /// Compressed bytes that were written; 0: the chunk existed.
    pub written: u64,
}

/// Where chunks and manifests are stored.
///
/// Contract:
///
/// 1. A backup exists once [`Repository::put_manifest`] said so: then it survives a power cut, and so does every chunk that it
///    names.
/// 2. No chunk that a manifest names is removed, nor one of a backup that is being made, even if others make or remove
///    backups at the same time. Where that cannot be known, [`Repository::put_manifest`] refuses.
pub trait Repository: Send + Sync {
    /// What it is called in an error.
    fn label(&self) -> String;

    /// What a chunk is called in an error.
    fn chunk_label(&self, name: &str) -> String;

    /// Whether there is a chunk of this name, sound or not. It is not removed while the backup is made that asks.
    /// # Errors
    /// The storage does not answer.
    fn claim(&self, name: &str) -> Result<bool, Error>;

    /// Stores a compressed chunk, in the place of a corrupt one.
    /// # Errors
    /// It cannot be written.
    fn write_chunk(&self, name: &str, compressed: &[u8]) -> Result<(), Error>;

    /// A chunk as it was stored; `None`: there is none. Of one that is far too long the beginning is enough.
    /// # Errors
    /// It cannot be read.
    fn read_chunk(&self, name: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Makes all stored chunks durable, where [`Repository::put_manifest`] does not.
    /// # Errors
    /// They may not survive a power cut.
    fn sync(&self) -> Result<(), Error>;

    /// Writes a manifest: from then on the backup exists.
    /// # Errors
    /// There is one of this name, it cannot be written, or what it needs was removed.
    fn put_manifest(&self, name: &str, manifest: &Manifest) -> Result<(), Error>;

    /// Reads the manifest of a backup.
    /// # Errors
    /// [`Error::Unusable`]: there is none of this name. [`Error::Damaged`]: it cannot be read.
    fn manifest(&self, name: &str) -> Result<Manifest, Error>;

    /// The names of all backups, oldest first.
    /// # Errors
    /// They cannot be read.
    fn manifests(&self) -> Result<Vec<String>, Error>;

    /// Removes a backup's manifest; its chunks stay until [`Repository::sweep`].
    /// # Errors
    /// It cannot be removed.
    fn remove(&self, name: &str) -> Result<(), Error>;

    /// Removes chunks that no manifest names; returns how many. A manifest that cannot be read may name any: then none is
    /// removed.
    /// # Errors
    /// The manifests cannot be listed, or a chunk cannot be removed.
    fn sweep(&self) -> Result<u64, Error>;

    /// Stores a chunk, unless it exists and is sound.
    /// # Errors
    /// It cannot be written, or does not hold what was written to it.
    fn put(&self, content: &[u8]) -> Result<StoredChunk, Error> {
        let name = digest(content);
        if self.claim(&name)? {
            match self.get(&name) {
                Ok(_) => return Ok(StoredChunk { name, written: 0 }),
                Err(error) => {
                    tracing::warn!(%error, "A chunk of an earlier backup is corrupt and is written again");
                }
            }
        }
        let bytes = zstd::bulk::compress(content, LEVEL)
            .map_err(|error| Error::Io(format!("compressing a chunk: {error}")))?;
        self.write_chunk(&name, &bytes)?;
        if self.get(&name)? != content {
            return Err(Error::Io(format!(
                "{} does not hold what was written to it",
                self.chunk_label(&name)
            )));
        }
        Ok(StoredChunk {
            name,
            written: bytes.len() as u64,
        })
    }

    /// A chunk's content, checked against its name.
    /// # Errors
    /// [`Error::Damaged`] with the chunk's name: it is missing or damaged. Else it cannot be read.
    fn get(&self, name: &str) -> Result<Vec<u8>, Error> {
        let bad = |why: &str| Error::Damaged(format!("chunk {} {why}", self.chunk_label(name)));
        let bytes = self.read_chunk(name)?.ok_or_else(|| bad("is missing"))?;
        let content = zstd::bulk::decompress(&bytes, MAX_BYTES)
            .map_err(|error| bad(&format!("is damaged: {error}")))?;
        if digest(&content) != name {
            return Err(bad("is damaged: its content does not match its name"));
        }
        Ok(content)
    }
}

/// The chunks that manifests name; `None`: one of these cannot be read, and may name any.
/// # Errors
/// The manifests cannot be listed.
pub fn named(repository: &dyn Repository) -> Result<Option<BTreeSet<String>>, Error> {
    let mut named = BTreeSet::new();
    for name in repository.manifests()? {
        match repository.manifest(&name) {
            Ok(manifest) => manifest.names(&mut named),
            // Somebody else removed it just now.
            Err(_) if !repository.manifests()?.contains(&name) => {}
            Err(error) => {
                tracing::error!(%error, "An older backup is damaged: no chunks were removed");
                return Ok(None);
            }
        }
    }
    Ok(Some(named))
}

/// Whether this is a valid name of a backup, which becomes part of a path and sorts by time.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}
