//! Files: how many may be open, and who can read them.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use kit::{Launch, Server};

/// Starts the binary with a limit of open files.
fn limited(limit: &str) -> Launch {
    Launch::default().through(["sh", "-c", &format!("{limit}; exec \"$@\""), "sh"])
}

#[tokio::test]
async fn the_soft_limit_of_open_files_is_raised() {
    let server = Server::launch(limited("ulimit -Sn 700")).await;
    let limits = format!("/proc/{}/limits", server.instance().id());
    let limits = fs::read_to_string(limits).unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let figures: Vec<_> = line.unwrap().split_whitespace().collect();
    assert_eq!(figures[3], figures[4], "{figures:?}");
    let log = server.instance().output().join("\n");
    assert!(!log.contains("open files"), "{log}");
}

#[tokio::test]
async fn connections_are_fewer_where_files_are_few() {
    let server = Server::launch(limited("ulimit -n 700")).await;
    let log = server.instance().output().join("\n");
    assert!(log.contains("at most 188 connections"), "{log}");
    server.admin().get("/healthz").await.expect(200);
}

#[tokio::test]
async fn too_few_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = limited("ulimit -n 200").serve(folder.path());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("ulimit"),
        "{text}"
    );
}

/// A folder and everything in it that other users have permissions for.
fn open_to_others(path: &Path) -> Vec<(PathBuf, u32)> {
    let mut left = vec![path.to_owned()];
    let mut open = Vec::new();
    while let Some(path) = left.pop() {
        let known = fs::symlink_metadata(&path).unwrap();
        let mode = known.permissions().mode() & 0o777;
        let expected = if known.is_dir() { 0o700 } else { 0o600 };
        if mode != expected {
            open.push((path.clone(), mode));
        }
        if known.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|one| one.unwrap().path()));
        }
    }
    open
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn the_data_directory_is_its_owners_alone() {
    // However permissive the umask is.
    let mut server = Server::launch(limited("umask 000")).await;
    server.grant("ann", 10, "k").await;
    assert_eq!(open_to_others(server.data_dir()), []);
    assert!(
        !server.data_dir().join("mail").exists(),
        "it was not requested"
    );
    server.restart().await;
    assert_eq!(open_to_others(server.data_dir()), []);
    let log = server.instance().output().join("\n");
    assert!(!log.contains("other users"), "{log}");
}

#[tokio::test]
async fn a_data_directory_that_others_can_read_is_closed_with_a_warning() {
    let mut server = Server::start().await;
    server.terminate().await;
    let data = server.data_dir().to_owned();
    for name in ["", "sled", "sled/blobs"] {
        chmod(&data.join(name), 0o755);
    }
    for name in ["sled/db", "sled/conf", "watermark", "lock"] {
        chmod(&data.join(name), 0o644);
    }
    server.start_again().await;
    assert_eq!(open_to_others(&data), []);
    let log = server.instance().output().join("\n");
    assert!(log.contains("could be read by other users"), "{log}");
    assert!(!log.contains('\u{1b}'), "no colours in a file: {log}");
}
