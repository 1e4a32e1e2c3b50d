//! A manifest lists all that a backup consists of: JSON, and behind it its own SHA-256. A backup exists once its
//! manifest does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    FRAMES,
    chunk::{Name, digest, from_hex, hex, is_digest},
};
use crate::{error::Error, frames::FramePosition};

const FORMAT: u32 = 1;

/// The content of a manifest: which chunks a backup consists of, and its place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub(super) format: u32,
    /// The version of Scrip that wrote it.
    pub(super) version: String,
    /// Milliseconds since 1970.
    pub(super) made_at: i64,
    /// Where the books stood: the last applied frame, and the last checkpoint.
    #[serde(rename = "folded")]
    pub(super) applied: Frame,
    #[serde(rename = "fold")]
    pub(super) checkpoint: u64,
    pub(super) head: Frame,
    pub(super) sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) lsn: u64,
    pub(super) sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) records: u64,
    /// Uncompressed bytes of its chunks.
    pub(super) bytes: u64,
    pub(super) chunks: Vec<Name>,
}

impl Manifest {
    pub(super) const FORMAT: u32 = FORMAT;

    /// The JSON on one line, and its SHA-256 on the next.
    /// # Errors
    /// It cannot be encoded.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut text = serde_json::to_string(self)
            .map_err(|error| Error::Io(format!("a manifest: {error}")))?;
        let sum = digest(text.as_bytes());
        text.push('\n');
        text.push_str(&sum);
        text.push('\n');
        Ok(text.into_bytes())
    }

    /// Checks and decodes a manifest.
    /// # Errors
    /// Why it is not one.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let (json, sum) = text
            .strip_suffix('\n')
            .and_then(|text| text.split_once('\n'))
            .ok_or("it is cut short")?;
        if digest(json.as_bytes()) != sum {
            return Err("its checksum does not match".into());
        }
        let header: Format = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if header.format != FORMAT {
            return Err(format!(
                "it has format {}, this version of Scrip reads {FORMAT}: use a newer one",
                header.format
            ));
        }
        let manifest: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut names = manifest.sections.iter().flat_map(|it| &it.chunks);
        if !names.all(|name| is_digest(name)) {
            return Err("it names something that is not a chunk".into());
        }
        Ok(manifest)
    }

    /// Adds the names of all its chunks to `into`.
    pub fn names(&self, into: &mut BTreeSet<String>) {
        let sections = self.sections.iter();
        into.extend(sections.flat_map(|section| section.chunks.iter().cloned()));
    }

    /// Up to where all of its books are applied.
    /// # Errors
    /// [`Error::Damaged`] when its hash is malformed.
    pub fn applied(&self) -> Result<FramePosition, Error> {
        self.applied.place()
    }

    /// Up to where some of its books may be applied.
    /// # Errors
    /// [`Error::Damaged`] when its hash is malformed.
    pub fn head(&self) -> Result<FramePosition, Error> {
        self.head.place()
    }

    /// Whether it has the frames behind its books; else the log must have them.
    pub(super) fn has_frames(&self) -> bool {
        self.sections.iter().any(|section| section.name == FRAMES)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.sections
            .iter()
            .fold(0, |sum: u64, section| sum.saturating_add(section.bytes))
    }
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

impl Frame {
    pub(super) fn of(place: &FramePosition) -> Self {
        Self {
            lsn: place.lsn,
            sha256: hex(&place.hash),
        }
    }

    pub(super) fn place(&self) -> Result<FramePosition, Error> {
        let hash = from_hex(&self.sha256);
        let bad = || Error::Damaged("a manifest names a frame by a malformed hash".into());
        Ok(FramePosition {
            lsn: self.lsn,
            hash: hash.ok_or_else(bad)?,
        })
    }
}
