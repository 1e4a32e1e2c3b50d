//! How far a restore has come, as `restoring/state.json` says it.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    files::{sync, unusable, write_new},
    log::lock::Directory,
};

/// File in `restoring/` that holds the attempt's [`State`].
pub(super) const FILE: &str = "state.json";
/// The name of `restoring/` from when everything is in its place until it is removed.
pub(super) const FINISHED_DIR: &str = "restoring.over";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// The backup's name; empty while the directory is emptied.
    pub(super) backup: String,
    /// Chunks that are durably restored, counted in the manifest's order.
    pub(super) chunks: u64,
    pub(super) stage: Stage,
    /// Whether the books follow the log that they were copied under, and not one of their own.
    #[serde(default)]
    pub(super) follows: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    /// What was here before is being removed.
    Discarding,
    /// Chunks are being read.
    Reading,
    /// All chunks are restored, and the log is being applied over them.
    #[serde(rename = "folding")]
    Checkpointing,
    /// Everything is applied and verified, and is being moved to its place.
    Moving,
}

impl State {
    pub(super) fn read(directory: &Directory) -> Option<Self> {
        Self::read_in(&directory.restoring())
    }

    pub(super) fn read_in(work: &Path) -> Option<Self> {
        let bytes = fs::read(work.join(FILE)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub(super) fn write(&self, work: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec(self).map_err(|error| Error::Io(error.to_string()))?;
        let (path, new) = (work.join(FILE), work.join("state.json.new"));
        write_new(&new, &text, true).map_err(|error| unusable(&new, &error))?;
        fs::rename(&new, &path).map_err(|error| unusable(&path, &error))?;
        sync(work)
    }
}
