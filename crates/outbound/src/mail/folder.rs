//! Writes mails as files, for setups without a mail server. Only the owner can read them: they hold codes.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use persistence::private_file;
use uuid::Uuid;

use super::error::Error;

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
        // A folder that existed before may be readable by others.
        fs::set_permissions(&path, Permissions::from_mode(0o700))?;
        private_file::sync_folder_of(&path)?;
        Ok(Self(path))
    }

    /// Writes a mail under a name that sorts by time.
    pub(super) async fn write(&self, mail: Vec<u8>) -> Result<(), Error> {
        let path = self.0.join(format!("{}.eml", Uuid::now_v7()));
        let written = tokio::task::spawn_blocking(move || private_file::write(&path, &mail));
        written.await.map_err(io::Error::other)??;
        Ok(())
    }
}
