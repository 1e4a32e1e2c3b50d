//! What a running server has, copied as a backup is, and put into a data directory of its own for a while.

use std::{
    fs,
    path::{Path, PathBuf},
};

use persistence::backup::{Moved, Restore, restore};
use serde_json::json;
use tempfile::TempDir;

use super::ExportArgs;
use crate::{
    cli::{Failure, backup, print, progress::Bar, remote},
    config::Config,
};

/// A copy. Dropping it removes it.
pub(super) struct Copied {
    dir: PathBuf,
    _folder: TempDir,
}

impl Copied {
    /// Has the server that uses the data directory make one.
    pub(super) fn make(args: &ExportArgs, config: &Config) -> Result<Self, Failure> {
        let server = backup::server_of(config, args.url.as_ref(), args.admin_token.as_deref())?;
        let folder = scratch(args);
        let unusable = |error| Failure(format!("{} cannot be used: {error}", folder.display()));
        // The server is told where it is, whatever its own folder.
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
        // Not among what a program reads.
        print::error("the server copies what it has");
        remote::wait(async { backup::made_by(&server, &order).await.map(drop) })?;
        print::error("the copy is read");
        let bar = Bar::new();
        let what = Restore {
            from: to.clone(),
            name: None,
            dir: dir.clone(),
            allow_unsynced: config.journal.allow_unsynced,
            faults: None,
        };
        let told = |moved: &Moved| {
            bar.at(moved.bytes, moved.of_bytes);
            true
        };
        let restored = restore(&what, &told);
        bar.end();
        restored.map_err(Failure::new)?;
        // Its room may be needed.
        fs::remove_dir_all(&to).map_err(Failure::new)?;
        Ok(Self {
            dir,
            _folder: folder,
        })
    }

    /// A data directory that nobody uses.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Where there is room for a copy.
fn scratch(args: &ExportArgs) -> PathBuf {
    let beside = args.to.parent().filter(|it| !it.as_os_str().is_empty());
    let beside = beside.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    args.scratch.clone().unwrap_or(beside)
}
