//! When the last good backup of a data directory began: a small file in it, so that a server knows of backups that were made
//! before its start, and of those that were made without it. It is about this directory alone: no backup has it.

use std::{fs, io, path::Path, time::UNIX_EPOCH};

use domain::Timestamp;

use persistence::private_file;

use super::server_key::KEY_CHECK_FILE;

pub const FILE: &str = "backed-up";

/// Notes that a good backup began at this instant.
/// # Errors
/// The file cannot be written durably.
pub fn note(data_dir: &Path, at: Timestamp) -> io::Result<()> {
    private_file::write(&data_dir.join(FILE), format!("{}\n", at.0).as_bytes())
}

/// When the last one began that was noted; `None`: none was, or the file is not one that was written here.
pub fn last(data_dir: &Path) -> Option<Timestamp> {
    let text = fs::read_to_string(data_dir.join(FILE)).ok()?;
    text.trim().parse().ok().map(Timestamp)
}

/// When a server first used the directory, by its files; `None`: none did.
pub fn used_since(data_dir: &Path) -> Option<Timestamp> {
    let made = fs::metadata(data_dir.join(KEY_CHECK_FILE)).ok()?;
    let since = made.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!((last(dir.path()), used_since(dir.path())), (None, None));
        note(dir.path(), Timestamp(1_795_332_362_123)).unwrap();
        assert_eq!(last(dir.path()), Some(Timestamp(1_795_332_362_123)));
        fs::write(dir.path().join(FILE), "damaged").unwrap();
        assert_eq!(last(dir.path()), None);
    }
}
