//! Keeps the data directory its owner's alone: it holds wallets, encrypted secrets and the keys to
//! them. The process's umask covers every new file, the store's, too; this closes what was there
//! before.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::Mode;

pub mod backed_up;
pub mod environment;
pub mod secrets;
pub mod server_key;
pub mod verified;

/// The mode bits of everybody but the owner.
pub const OTHERS: u32 = 0o077;
/// What Scrip makes in a data directory. Nothing else is touched: it may be a folder with other
/// things. The server key is not listed: one that others could read is refused, not closed.
const OWN: [&str; 12] = [
    "lock",
    "watermark",
    "sled",
    "sled.new",
    "mail",
    "admin-token.sha256",
    secrets::NEW_TOKEN_FILE,
    "server.key.check",
    "dev.json",
    "dev.json.new",
    verified::FILE,
    backed_up::FILE,
];

/// Sets the umask: every file that this process makes is its owner's alone.
pub fn make_all_private() {
    rustix::process::umask(Mode::from_raw_mode(OTHERS));
}

/// Makes the directory if there is none; takes other users' access to it and its files away, and logs
/// that. Where that fails (it belongs to another user, as some volumes do), it warns.
/// # Errors
/// It cannot be made or read.
pub fn open(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    }
    let (mut closed, mut open) = (0_usize, Vec::new());
    let mut left: Vec<PathBuf> = OWN.iter().map(|name| path.join(name)).collect();
    take_away(path, &mut closed, &mut open)?;
    while let Some(path) = left.pop() {
        take_away(&path, &mut closed, &mut open)?;
        // Links are not followed.
        if fs::symlink_metadata(&path).is_ok_and(|known| known.is_dir()) {
            for entry in fs::read_dir(&path)? {
                left.push(entry?.path());
            }
        }
    }
    let path = path.display();
    if closed > 0 {
        tracing::warn!(
            "{path} could be read by other users of this machine; now it is its owner's alone \
             ({closed} files and folders changed)"
        );
    }
    if let Some(example) = open.first() {
        tracing::warn!(
            "{} can be read by other users of this machine and is not ours to change",
            example.display()
        );
    }
    Ok(())
}

fn take_away(path: &Path, closed: &mut usize, open: &mut Vec<PathBuf>) -> io::Result<()> {
    let known = match fs::symlink_metadata(path) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mode = known.permissions().mode();
    if known.is_symlink() || mode & OTHERS == 0 {
        return Ok(());
    }
    match fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)) {
        Ok(()) => *closed += 1,
        Err(_) => open.push(path.to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_others_could_read_is_taken_away_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("data");
        fs::create_dir_all(root.join("sled/blobs")).unwrap();
        let files = ["sled/db", "watermark", "notes.txt", "server.key"];
        for name in files {
            fs::write(root.join(name), "").unwrap();
            fs::set_permissions(root.join(name), Permissions::from_mode(0o644)).unwrap();
        }
        for name in ["", "sled", "sled/blobs"] {
            fs::set_permissions(root.join(name), Permissions::from_mode(0o755)).unwrap();
        }
        open(&root).unwrap();
        for name in ["", "sled", "sled/blobs"] {
            assert_eq!(mode(&root.join(name)), 0o700, "{name}");
        }
        assert_eq!(
            files.map(|name| mode(&root.join(name))),
            [0o600, 0o600, 0o644, 0o644]
        );
    }

    #[test]
    fn a_new_one_is_private_with_all_its_parents() {
        let folder = tempfile::tempdir().unwrap();
        open(&folder.path().join("a/b")).unwrap();
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    }
}
