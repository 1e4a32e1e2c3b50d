//! The state of an attempt to restore, and the check that it overwrites no data.

use std::{collections::BTreeSet, fs, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    FILES,
    directory::{make_private, write_new},
    manifest::Manifest,
    records,
    vault::Vault,
};
use crate::{
    contract::BesideFile,
    error::Error,
    log::{
        lock::{Directory, sync, unusable},
        watermark,
    },
};

/// File in `restoring/` that holds the attempt's [`State`].
const STATE: &str = "state.json";
/// Names that a data directory must not contain when a restore begins.
const RESERVED_NAMES: [&str; 3] = ["sled", "sled.new", watermark::FILE];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) backup: String,
    /// Chunks that are durably restored, counted in the manifest's order.
    pub(super) chunks: u64,
    pub(super) stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    /// Chunks are being read.
    Reading,
    /// All chunks are restored, and the log is being folded over them.
    Folding,
    /// Everything is folded and verified, and is being moved to its place.
    Moving,
}

/// The state of an earlier attempt, or a new one. `Err` if something in the directory would be overwritten.
pub(super) fn begin(
    directory: &Directory,
    name: &str,
    files: &[BesideFile],
) -> Result<State, Error> {
    let work = directory.restoring();
    let fresh = State {
        backup: name.into(),
        chunks: 0,
        stage: Stage::Reading,
    };
    let former = fs::read(work.join(STATE)).ok();
    let former: Option<State> = former.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(former) = former {
        if former.backup == name {
            return Ok(former);
        }
        if former.stage == Stage::Moving {
            return Err(Error::Unusable(format!(
                "{} has an unfinished restore of backup {}: finish it first with `scrip restore --backup {}`",
                directory.root().display(),
                former.backup,
                former.backup
            )));
        }
    }
    let names = files.iter().map(|(name, _)| name.as_str());
    for taken in RESERVED_NAMES.into_iter().chain(names) {
        let path = directory.root().join(taken);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(Error::Unusable(format!(
                "{} exists, and nothing is overwritten: name a data directory that is empty or does \
                 not exist",
                path.display()
            )));
        }
    }
    if work.exists() {
        fs::remove_dir_all(&work).map_err(|error| unusable(&work, &error))?;
    }
    make_private(&work)?;
    sync(directory.root())?;
    write_state(&work, &fresh)?;
    Ok(fresh)
}

pub(super) fn write_state(work: &Path, state: &State) -> Result<(), Error> {
    let text = serde_json::to_vec(state).map_err(|error| Error::Io(error.to_string()))?;
    let (path, new) = (work.join(STATE), work.join("state.json.new"));
    write_new(&new, &text, true).map_err(|error| unusable(&new, &error))?;
    fs::rename(&new, &path).map_err(|error| unusable(&path, &error))?;
    sync(work)
}

/// The files that a backup holds beside the store. Their names are checked because they become paths.
pub(super) fn files(vault: &dyn Vault, manifest: &Manifest) -> Result<Vec<BesideFile>, Error> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    let sections = manifest.sections.iter().filter(|it| it.name == FILES);
    for chunk in sections.flat_map(|section| &section.chunks) {
        let content = vault.get(chunk)?;
        for (name, bytes) in records::read(&content)? {
            let bad = || Error::Damaged("the backup has a file that cannot be restored".into());
            let name = std::str::from_utf8(name).map_err(|_| bad())?;
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
            let reserved = RESERVED_NAMES.contains(&name) || matches!(name, "lock" | "restoring");
            let plain = !name.is_empty() && !name.starts_with('.') && name.bytes().all(allowed);
            if !plain || reserved || !seen.insert(name.to_owned()) {
                return Err(bad());
            }
            files.push((name.to_owned(), bytes.to_vec()));
        }
    }
    Ok(files)
}
