//! What the leader of a cell tells the other processes: which projects and API keys are there.

use std::collections::HashSet;

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use data_encoding::HEXLOWER;
use domain::id::ProjectId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    pub cell: i16,
    /// Differs where the lists differ, under any leader.
    pub version: u64,
    pub projects: Vec<ProjectId>,
    /// The SHA-256 of each of their API keys.
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub keys: Vec<[u8; 32]>,
}

impl Announcement {
    /// An announcement with a version made of what is in it: make it once for each change of a catalog.
    pub fn new(cell: i16, mut projects: Vec<ProjectId>, mut keys: Vec<[u8; 32]>) -> Self {
        projects.sort_unstable();
        keys.sort_unstable();
        let mut hash = Sha256::new();
        // How many there are says where they end.
        hash.update(u64::try_from(projects.len()).unwrap_or(0).to_be_bytes());
        for project in &projects {
            hash.update(project.0.to_be_bytes());
        }
        for key in &keys {
            hash.update(key);
        }
        let hash: [u8; 32] = hash.finalize().into();
        let version = hash.first_chunk().copied().map_or(0, u64::from_be_bytes);
        Self {
            cell,
            version,
            projects,
            keys,
        }
    }

    /// The answer to a request with these headers: all of it, or 304 where the other process has this version.
    pub fn respond(&self, headers: &HeaderMap) -> Response {
        let etag = etag(self.version);
        let has_it = headers.get(header::IF_NONE_MATCH) == Some(&etag);
        let mut response = match has_it {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => Json(self).into_response(),
        };
        response.headers_mut().insert(header::ETAG, etag);
        response
    }
}

/// How HTTP names a version.
pub(super) fn etag(version: u64) -> HeaderValue {
    let quoted = HeaderValue::try_from(format!("\"{version}\""));
    quoted.unwrap_or_else(|_| HeaderValue::from(version))
}

/// An announcement as it is looked up.
pub(super) struct CellContents {
    pub(super) version: u64,
    pub(super) projects: HashSet<ProjectId>,
    pub(super) keys: HashSet<[u8; 32]>,
}

impl From<Announcement> for CellContents {
    fn from(announcement: Announcement) -> Self {
        Self {
            version: announcement.version,
            projects: announcement.projects.into_iter().collect(),
            keys: announcement.keys.into_iter().collect(),
        }
    }
}

/// An API key's hash as text.
struct Hex([u8; 32]);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut text = [0; 64];
        HEXLOWER.encode_mut(&self.0, &mut text);
        to.serialize_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = HEXLOWER.decode(text.as_bytes()).map_err(D::Error::custom)?;
        let bytes = bytes.try_into();
        bytes
            .map(Self)
            .map_err(|_| D::Error::custom("not a SHA-256"))
    }
}

fn to_hex<S: Serializer>(keys: &[[u8; 32]], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(keys.iter().map(|key| Hex(*key)))
}

fn from_hex<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[u8; 32]>, D::Error> {
    let keys = Vec::<Hex>::deserialize(from)?;
    Ok(keys.into_iter().map(|key| key.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_of_what_is_announced_in_any_order() {
        let (a, b) = (ProjectId(1), ProjectId(2));
        let version = |projects, keys| Announcement::new(3, projects, keys).version;
        let first = version(vec![a, b], vec![[1; 32], [2; 32]]);
        assert_eq!(first, version(vec![b, a], vec![[2; 32], [1; 32]]));
        let others = [
            version(vec![a], vec![[1; 32], [2; 32]]),
            version(vec![a, b], vec![[1; 32]]),
            version(vec![a, b], vec![]),
            version(vec![], vec![]),
        ];
        assert!(!others.contains(&first));
    }

    #[test]
    fn an_announcement_is_read_as_it_was_written() {
        let made = Announcement::new(-1, vec![ProjectId(7)], vec![[0xab; 32]]);
        let text = serde_json::to_string(&made).unwrap();
        assert!(text.contains(&format!(r#""keys":["{}"]"#, "ab".repeat(32))));
        assert_eq!(serde_json::from_str::<Announcement>(&text).unwrap(), made);
        assert!(serde_json::from_str::<Announcement>(&text.replace("abab", "ab")).is_err());
    }

    #[test]
    fn who_has_a_version_is_not_sent_it_again() {
        let made = Announcement::new(1, vec![ProjectId(7)], vec![]);
        let all = made.respond(&HeaderMap::new());
        assert_eq!(all.status(), StatusCode::OK);
        let has = HeaderMap::from_iter([(header::IF_NONE_MATCH, all.headers()["etag"].clone())]);
        assert_eq!(made.respond(&has).status(), StatusCode::NOT_MODIFIED);
        let other = Announcement::new(1, vec![], vec![]);
        assert_eq!(other.respond(&has).status(), StatusCode::OK);
    }
}
