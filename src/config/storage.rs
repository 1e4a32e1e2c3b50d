//! Where the log is kept, and how processes that share it reach each other.
#![allow(missing_docs, reason = "config.toml says what each setting does")]

use std::{fmt, path::PathBuf};

use cluster::Origin;
use serde::{Deserialize, Deserializer, de::Error as _};

/// Where the log is kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    #[serde(deserialize_with = "empty_is_none")]
    pub url: Option<DatabaseUrl>,
    #[serde(deserialize_with = "super::layers::empty_path_is_none")]
    pub snapshots: Option<PathBuf>,
    pub pipeline: usize,
}

/// How processes that share a log reach each other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    #[serde(deserialize_with = "empty_origin_is_none")]
    pub address: Option<Origin>,
    #[serde(deserialize_with = "cell")]
    pub cell: i16,
    #[serde(deserialize_with = "cell")]
    pub split_from: i16,
}

/// The log and its store.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    pub cache_mb: u64,
    pub filter_mb: u64,
    pub checkpoint_entries: u64,
    pub checkpoint_interval_ms: u64,
    pub backlog_limit: u64,
    pub backlog_mb: u64,
    pub min_free_bytes: u64,
    pub allow_unsynced: bool,
}

/// The URL of a database, which contains a password and is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Box<str>);

impl DatabaseUrl {
    /// The URL, with its password.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(..)")
    }
}

/// An empty text means none. The error does not repeat the text.
pub(super) fn empty_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<DatabaseUrl>, D::Error> {
    let text = String::deserialize(from)?;
    match text.is_empty() {
        true => Ok(None),
        false
            if ["postgres://", "postgresql://"]
                .iter()
                .any(|scheme| text.starts_with(scheme)) =>
        {
            Ok(Some(DatabaseUrl(text.into())))
        }
        false => Err(D::Error::custom("storage.url begins with postgres://")),
    }
}

/// Cells are counted from 0.
pub(super) fn cell<'de, D: Deserializer<'de>>(from: D) -> Result<i16, D::Error> {
    match i16::deserialize(from)? {
        number @ 0.. => Ok(number),
        _ => Err(D::Error::custom("a cell is a number from 0 to 32767")),
    }
}

/// An empty text means no address.
pub(super) fn empty_origin_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Origin>, D::Error> {
    let text = String::deserialize(from)?;
    match text.is_empty() {
        true => Ok(None),
        false => text
            .parse()
            .map(Some)
            .map_err(|error| D::Error::custom(format!("cluster.address: {error}"))),
    }
}
