//! Where backups go, and how often.

use std::{path::PathBuf, time::Duration};

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, de::Error as _};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSettings {
    /// The directory that they are kept in; `None`: the one that `scrip backup` names.
    #[serde(deserialize_with = "empty_path_is_none")]
    pub to: Option<PathBuf>,
    /// Time between two scheduled backups; `None`: none is scheduled.
    #[serde(deserialize_with = "empty_is_none")]
    pub every: Option<Duration>,
    /// How many backups are kept; 0: all.
    pub keep: usize,
    pub with_server_key: bool,
}

impl BackupSettings {
    /// How many backups are kept; `None`: all.
    pub fn kept(&self) -> Option<usize> {
        (self.keep > 0).then_some(self.keep)
    }
}

/// An empty text means no directory.
fn empty_path_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    let path = PathBuf::deserialize(from)?;
    Ok((!path.as_os_str().is_empty()).then_some(path))
}

/// A duration with its units, from a second to a year.
fn empty_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    const YEAR: u64 = 366 * 24 * 60 * 60;
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    let read = text.parse::<SignedDuration>().ok();
    let read = read.and_then(|read| Duration::try_from(read).ok());
    match read.filter(|read| (1..=YEAR).contains(&read.as_secs())) {
        Some(every) => Ok(Some(every)),
        None => Err(D::Error::custom(format!(
            "backup.every: `{text}` is not a duration such as \"24h\" or \"90m\""
        ))),
    }
}
