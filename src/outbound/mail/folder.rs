//! Mails as files, for whoever has no mail server yet. For the owner alone: they hold codes.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use uuid::Uuid;

use super::Error;
use crate::private_file;

const NAME: &str = "mail";

/// The folder in the data directory.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn open(data_dir: &Path) -> Result<Self, Error> {
        let path = data_dir.join(NAME);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)?;
        // One that was there already may be open to others.
        fs::set_permissions(&path, Permissions::from_mode(0o700))?;
        private_file::sync_folder_of(&path)?;
        Ok(Self(path))
    }

    /// Under a name that sorts by time.
    pub(super) async fn write(&self, mail: Vec<u8>) -> Result<(), Error> {
        let path = self.0.join(format!("{}.eml", Uuid::now_v7()));
        let written = tokio::task::spawn_blocking(move || private_file::write(&path, &mail));
        written.await.map_err(io::Error::other)??;
        Ok(())
    }
}
