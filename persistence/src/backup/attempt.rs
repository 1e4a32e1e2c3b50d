//! How far an attempt to restore has come, and what it may not begin over: data that is there.

use std::{collections::BTreeSet, fs, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    BesideFile, FILES,
    manifest::Manifest,
    records,
    vault::{Vault, make_private, write_new},
};
use crate::{
    contract::Error,
    lock::{Directory, sync, unusable},
    watermark,
};

/// How far it has come, in `restoring/`.
const STATE: &str = "state.json";
/// What a data directory may not have yet.
const TAKEN: [&str; 3] = ["sled", "sled.new", watermark::FILE];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) backup: String,
    /// Chunks that are put back for good, in the manifest's order.
    pub(super) chunks: u64,
    pub(super) stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    /// Chunks are read.
    Reading,
    /// All of them are there, and the log is folded over them.
    Folding,
    /// All of it is there, folded and verified.
    Moving,
}

/// Where an earlier attempt stood. `Err`: there is something in the directory that would be overwritten.
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
                "{} is about to hold backup {}: run `scrip restore --backup {}` again to its end first",
                directory.root().display(),
                former.backup,
                former.backup
            )));
        }
    }
    let names = files.iter().map(|(name, _)| name.as_str());
    for taken in TAKEN.into_iter().chain(names) {
        let path = directory.root().join(taken);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(Error::Unusable(format!(
                "{} is there, and nothing is overwritten: name a data directory that is empty or not \
                 there",
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

/// The files of a backup. Their names become paths.
pub(super) fn files(vault: &Vault, manifest: &Manifest) -> Result<Vec<BesideFile>, Error> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    let sections = manifest.sections.iter().filter(|it| it.name == FILES);
    for chunk in sections.flat_map(|section| &section.chunks) {
        let content = vault.get(chunk)?;
        for (name, bytes) in records::read(&content)? {
            let bad = || Error::Damaged("the backup has a file that no data directory has".into());
            let name = std::str::from_utf8(name).map_err(|_| bad())?;
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
            let reserved = TAKEN.contains(&name) || matches!(name, "lock" | "restoring");
            let plain = !name.is_empty() && !name.starts_with('.') && name.bytes().all(allowed);
            if !plain || reserved || !seen.insert(name.to_owned()) {
                return Err(bad());
            }
            files.push((name.to_owned(), bytes.to_vec()));
        }
    }
    Ok(files)
}
