//! Files: how many may be open, and who may read them.

use crate::support::{Launch, Server};

/// The binary under a limit of open files.
fn limited(limit: &str) -> Launch {
    Launch::default().through(["sh", "-c", &format!("{limit}; exec \"$@\""), "sh"])
}

#[tokio::test]
async fn the_soft_limit_of_open_files_is_raised() {
    let server = Server::launch(limited("ulimit -Sn 700")).await;
    let limits = format!("/proc/{}/limits", server.instance().id());
    let limits = std::fs::read_to_string(limits).unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let figures: Vec<_> = line.unwrap().split_whitespace().collect();
    assert_eq!(figures[3], figures[4], "{figures:?}");
    let said = server.instance().said().join("\n");
    assert!(!said.contains("open files"), "{said}");
}

#[tokio::test]
async fn connections_are_fewer_where_files_are_few() {
    let server = Server::launch(limited("ulimit -n 700")).await;
    let said = server.instance().said().join("\n");
    assert!(said.contains("at most 188 connections"), "{said}");
    server.admin().get("/healthz").await.expect(200);
}

#[tokio::test]
async fn too_few_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = limited("ulimit -n 200").serve(folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("ulimit"),
        "{said}"
    );
}
