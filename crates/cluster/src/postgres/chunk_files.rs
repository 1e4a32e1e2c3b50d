//! Chunks of snapshots as files in a directory that all processes of a cell reach, where books outgrow what a database
//! should hold. Their rows stay: a snapshot counts by them, and each says which file has its bytes.
//!
//! A file is written under a name of its own and never changed. It is removed after its row, or once no row has named it
//! for longer than a snapshot may take: its writer may have ended before the row was written.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use persistence::{
    Error,
    files::{make_private, sync, unusable, write_new},
};
use uuid::Uuid;

use crate::snapshots::ChunkName;

/// What the row of a chunk begins with whose bytes are in a file.
const MARK: &[u8] = b"file:";
/// A file that no row names stays for so long.
const MIN_UNNAMED: Duration = Duration::from_secs(12 * 3600);

/// The files of one cell.
#[derive(Debug, Clone)]
pub(super) struct ChunkFiles(PathBuf);

impl ChunkFiles {
    /// In this directory, which the processes of other cells may use as well.
    pub(super) fn new(directory: &Path, cell: i16) -> Self {
        Self(directory.join(format!("cell-{cell}")))
    }

    /// Whether a row says that its chunk is in a file.
    pub(super) fn is_mark(row: &[u8]) -> bool {
        row.starts_with(MARK)
    }

    /// The longest row that may be one.
    pub(super) const MAX_MARK: i32 = 64;

    /// Writes a chunk durably; returns what its row has to say.
    pub(super) fn write(&self, name: &ChunkName, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let file = Uuid::new_v4().simple().to_string();
        let folder = self.folder(name);
        make_private(&folder)?;
        let path = folder.join(&file);
        write_new(&path, bytes, true).map_err(|error| unusable(&path, &error))?;
        // The file's name, and that of its folder.
        sync(&folder)?;
        sync(&self.0)?;
        Ok([MARK, file.as_bytes()].concat())
    }

    /// A chunk as it was written; `None`: the file is gone.
    pub(super) fn read(&self, name: &ChunkName, row: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path(name, row)?;
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unusable(&path, &error)),
        }
    }

    pub(super) fn remove(&self, name: &ChunkName, row: &[u8]) -> Result<(), Error> {
        removed(&self.path(name, row)?)
    }

    /// Removes files that no row has named for long. `rows`: all that there are.
    pub(super) fn tidy(&self, rows: &[(ChunkName, Vec<u8>)]) -> Result<(), Error> {
        let named = rows.iter().map(|(name, row)| self.path(name, row));
        let named: HashSet<PathBuf> = named.collect::<Result<_, _>>()?;
        for folder in entries(&self.0)? {
            for path in entries(&folder)? {
                let written = fs::metadata(&path).and_then(|it| it.modified());
                let is_old = written.is_ok_and(|at| at.elapsed().is_ok_and(|it| it > MIN_UNNAMED));
                if is_old && !named.contains(&path) {
                    removed(&path)?;
                }
            }
        }
        Ok(())
    }

    fn folder(&self, name: &ChunkName) -> PathBuf {
        self.0.join(format!("{:02x}", name.first().unwrap_or(&0)))
    }

    fn path(&self, name: &ChunkName, row: &[u8]) -> Result<PathBuf, Error> {
        let file = row.strip_prefix(MARK);
        let file = file.and_then(|file| std::str::from_utf8(file).ok());
        // It becomes a part of a path.
        let file = file.filter(|file| file.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let bad = || Error::Damaged("the row of a chunk does not say which file has it".into());
        Ok(self.folder(name).join(file.ok_or_else(bad)?))
    }
}

fn removed(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(path, &error)),
        _ => Ok(()),
    }
}

/// What is in a folder; nothing where there is none.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read,
    };
    let all = read.and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
    all.map_err(|error| unusable(folder, &error))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_file_goes_with_its_row_or_once_no_row_has_named_it_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let files = ChunkFiles::new(dir.path(), 3);
        let (one, other) = ([1; 32], [2; 32]);
        let rows = [one, other].map(|name| (name, files.write(&name, b"x").unwrap()));
        assert!(ChunkFiles::is_mark(&rows[0].1));
        let again = files.write(&one, b"y").unwrap();
        assert_eq!(files.read(&one, &again).unwrap().unwrap(), b"y");
        files.tidy(&rows).unwrap();
        assert!(files.read(&one, &again).unwrap().is_some());
        let path = files.path(&one, &again).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        files.tidy(&rows).unwrap();
        assert_eq!(files.read(&one, &again).unwrap(), None);
        assert_eq!(files.read(&one, &rows[0].1).unwrap().unwrap(), b"x");
        files.remove(&other, &rows[1].1).unwrap();
        assert_eq!(files.read(&other, &rows[1].1).unwrap(), None);
        assert!(files.read(&one, b"file:../x").is_err());
    }
}
