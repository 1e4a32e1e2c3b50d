//! What a data directory keeps of the cluster that it belongs to: with it, no directory follows another one's log, and
//! none is served by itself whose log goes on elsewhere.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    error::Error,
    files::{sync, unusable},
    log::lock::MEMBERSHIP as FILE,
};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The cluster's id in its database.
    pub cluster: Uuid,
    /// Drawn for this directory.
    pub node: Uuid,
    /// The log that it follows.
    pub cell: i16,
}

impl Membership {
    /// Reads the file; `None`: the directory belongs to no cluster.
    /// # Errors
    /// [`Error::Unusable`] when it cannot be read, [`Error::Damaged`] when it has another form.
    pub fn read(root: &Path) -> Result<Option<Self>, Error> {
        let path = root.join(FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&path, &error)),
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::Damaged(format!("{}: {error}", path.display())))
    }

    /// Writes the file durably, and all of it or nothing.
    /// # Errors
    /// [`Error::Unusable`] when it cannot be written.
    pub fn write(&self, root: &Path) -> Result<(), Error> {
        let (path, new) = (root.join(FILE), root.join("cluster.json.new"));
        let text = serde_json::to_vec(self).map_err(|error| Error::Io(error.to_string()))?;
        fs::write(&new, text).map_err(|error| unusable(&new, &error))?;
        sync(&new)?;
        fs::rename(&new, &path).map_err(|error| unusable(&path, &error))?;
        sync(root)
    }

    /// Removes the file, durably: the directory is served by itself from then on.
    /// # Errors
    /// [`Error::Unusable`] when it cannot be removed.
    pub fn remove(root: &Path) -> Result<(), Error> {
        let path = root.join(FILE);
        match fs::remove_file(&path) {
            Ok(()) => sync(root),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(unusable(&path, &error)),
        }
    }

    /// `Err` if the directory belongs to a cluster: its log goes on elsewhere.
    pub(crate) fn refuse(root: &Path) -> Result<(), Error> {
        match Self::read(root)? {
            None => Ok(()),
            Some(_) => Err(Error::Unusable(format!(
                "{} belongs to a cluster, whose log is in PostgreSQL: set storage.url, or take the data back with \
                 `scrip cluster leave` first",
                root.display()
            ))),
        }
    }
}
