//! The result of the last `scrip verify`: a small file in the data directory, so that the service shows
//! when its data was last checked. It is about this directory alone: no backup has it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use persistence::private_file;

pub const FILE: &str = "verify.json";
/// A larger file is not read: Scrip did not write it.
const MAX_BYTES: u64 = 4096;

/// The result of a check, and when it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyResult {
    /// When it ended, in milliseconds.
    at: i64,
    /// Problems that were found; 0: none.
    pub problems: u64,
}

impl VerifyResult {
    pub const fn new(at: Timestamp, problems: u64) -> Self {
        Self { at: at.0, problems }
    }

    /// When the wallets were verified.
    pub const fn at(&self) -> Timestamp {
        Timestamp(self.at)
    }

    /// Replaces the result of the last check.
    /// # Errors
    /// The file cannot be written durably.
    pub fn write(&self, data_dir: &Path) -> io::Result<()> {
        private_file::write(&path(data_dir), &serde_json::to_vec(self)?)
    }

    /// The result of the last check; `None`: there was none.
    /// # Errors
    /// The file cannot be read, or is not one that was written here.
    pub fn read(data_dir: &Path) -> io::Result<Option<Self>> {
        let path = path(data_dir);
        match fs::metadata(&path) {
            Ok(known) if known.is_file() && known.len() <= MAX_BYTES => {}
            Ok(_) => return Err(io::Error::other("it is not what `scrip verify` writes")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Some(serde_json::from_slice(&fs::read(path)?)?))
    }
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_was_found_is_read_back_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(VerifyResult::read(folder.path()).unwrap(), None);
        for problems in [0, 3] {
            let found = VerifyResult::new(Timestamp(1_795_000_000_000), problems);
            found.write(folder.path()).unwrap();
            assert_eq!(VerifyResult::read(folder.path()).unwrap(), Some(found));
        }
        let mode = fs::metadata(path(folder.path())).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        for foreign in ["{", "{}", &"x".repeat(5000)] {
            fs::write(path(folder.path()), foreign).unwrap();
            assert!(VerifyResult::read(folder.path()).is_err(), "{foreign}");
        }
    }
}
