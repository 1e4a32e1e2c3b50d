//! A temporary copy of a running server's data: made like a backup, and restored into a data directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use persistence::{
    Faults,
    backup::{Restore, restore},
};
use serde_json::json;
use tempfile::TempDir;

use super::ExportArgs;
use crate::{
    cli::{Failure, backup, print, progress::with_bar, remote},
    config::Config,
};

/// A copy, removed when dropped.
pub(super) struct BackupCopy {
    dir: PathBuf,
    _folder: TempDir,
}

impl BackupCopy {
    /// Has the server that uses the data directory make the copy.
    pub(super) fn make(args: &ExportArgs, config: &Config) -> Result<Self, Failure> {
        let server = backup::server_of(config, args.url.as_ref(), args.token.read()?.as_deref())?;
        let folder = scratch(args);
        let unusable = |error| Failure(format!("cannot use {}: {error}", folder.display()));
        // Absolute, as the server has another working directory.
        let folder = folder.canonicalize().map_err(unusable)?;
        let folder = tempfile::Builder::new()
            .prefix("scrip-export-")
            .tempdir_in(folder)
            .map_err(unusable)?;
        let (to, dir) = (folder.path().join("backup"), folder.path().join("data"));
        let order = json!({
            "to": to.to_str().ok_or_else(|| Failure("--scratch is not valid UTF-8".into()))?,
            "temporary": true,
        });
        // On standard error, as a program may read standard output.
        print::error("the server is copying its data");
        remote::wait(async { backup::run_backup(&server, &order).await.map(drop) })?;
        print::error("reading the copy");
        let what = Restore {
            from: to.clone(),
            name: None,
            dir: dir.clone(),
            allow_unsynced: config.journal.allow_unsynced,
            faults: Faults::default(),
        };
        with_bar(|on_progress| restore(&what, on_progress)).map_err(Failure::new)?;
        // Frees its space.
        fs::remove_dir_all(&to).map_err(Failure::new)?;
        Ok(Self {
            dir,
            _folder: folder,
        })
    }

    /// The restored data directory, which no server uses.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// The folder for the copy.
fn scratch(args: &ExportArgs) -> PathBuf {
    let beside = args.to.parent().filter(|it| !it.as_os_str().is_empty());
    let beside = beside.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    args.scratch.clone().unwrap_or(beside)
}
