//! `scrip backup` and `scrip restore`.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use kit::{Launch, Server};

use crate::all_output;

/// Runs a command on a data directory; returns whether it succeeded, and its output.
fn run(verb: &str, data: &Path, words: &[&str]) -> (bool, String) {
    let mut command: Command = Launch::default().command(verb, data);
    let output = command.args(words).output().expect("the binary starts");
    (output.status.success(), all_output(&output))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn folder(server: &Server, name: &str) -> PathBuf {
    server.data_dir().with_file_name(name)
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut matches = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => matches.extend(files(&path)),
            false => matches.push(path),
        }
    }
    matches
}

#[tokio::test]
async fn where_no_server_runs_the_command_makes_the_backup_itself() {
    let mut server = Server::start().await;
    server.grant("ann", 7, "k").await;
    assert!(server.terminate().await.success());
    let (to, restored) = (folder(&server, "backups"), folder(&server, "restored"));
    let (done, output) = run("backup", server.data_dir(), &["--to", text(&to)]);
    assert!(done, "{output}");
    assert!(
        output.contains("the server key is not included"),
        "{output}"
    );

    let from = ["--from", text(&to)];
    let (done, output) = run("restore", server.data_dir(), &from);
    assert!(
        !done && output.contains("nothing is overwritten"),
        "{output}"
    );
    let (done, output) = run("restore", &restored, &from);
    assert!(done, "{output}");
    assert!(output.contains("the server key is missing"), "{output}");
    // It says which key it needs, and the server does not start without it.
    let check = fs::read_to_string(restored.join("server.key.check")).unwrap();
    assert!(output.contains(&check[..12]), "{output}");
    let refused = Launch::default().serve(&restored).output().unwrap();
    assert!(
        all_output(&refused).contains("server.key is missing"),
        "{}",
        all_output(&refused)
    );
    fs::copy(
        server.data_dir().join("server.key"),
        restored.join("server.key"),
    )
    .unwrap();
    fs::rename(server.data_dir(), folder(&server, "lost")).unwrap();
    fs::rename(&restored, server.data_dir()).unwrap();
    server.start_again().await;
    assert_eq!(server.balance("ann").await.balance, 7);
}

#[tokio::test]
async fn a_backup_is_readable_by_its_owner_alone_and_has_no_key_unless_asked_for() {
    let server = Server::start().await;
    let to = folder(&server, "backups");
    let with = folder(&server, "with-key");
    let base = server.instance().base().to_owned();
    let key = fs::read_to_string(server.data_dir().join("server.key")).unwrap();
    for (to, more) in [(&to, None), (&with, Some("--with-server-key"))] {
        let mut words = vec!["--to", text(to), "--url", &base];
        words.extend(more);
        let (done, output) = run("backup", server.data_dir(), &words);
        assert!(done, "{output}");
        assert_eq!(
            output.contains("enough to read recovery codes"),
            more.is_some()
        );
        let found = files(to);
        assert!(found.len() > 3);
        for path in found {
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            assert_eq!(mode(path.parent().unwrap()), 0o700);
        }
        let restored = folder(&server, if more.is_some() { "one" } else { "other" });
        let (done, output) = run("restore", &restored, &["--from", text(to)]);
        assert!(done, "{output}");
        let there = fs::read_to_string(restored.join("server.key")).ok();
        assert_eq!(there, more.map(|_| key.clone()));
    }
}
