//! Backups as an operator asks for them: by the admin API, the command line and the schedule.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use kit::{Launch, Server, deadline};
use serde_json::{Value, json};

use crate::{get, post};

fn said(output: &Output) -> String {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// Runs a command on a data directory; returns whether it succeeded, and its output.
fn run(verb: &str, data: &Path, words: &[&str]) -> (bool, String) {
    let mut command: Command = Launch::default().command(verb, data);
    let output = command.args(words).output().expect("the binary starts");
    (output.status.success(), said(&output))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn folder(server: &Server, name: &str) -> PathBuf {
    server.data_dir().with_file_name(name)
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

#[tokio::test]
async fn where_no_server_runs_the_command_makes_the_backup_itself() {
    let mut server = Server::start().await;
    server.grant("ann", 7, "k").await;
    assert!(server.terminate().await.success());
    let (to, restored) = (folder(&server, "backups"), folder(&server, "restored"));
    let (done, told) = run("backup", server.data_dir(), &["--to", text(&to)]);
    assert!(done, "{told}");
    assert!(told.contains("the server key is not included"), "{told}");

    let from = ["--from", text(&to)];
    let (done, told) = run("restore", server.data_dir(), &from);
    assert!(!done && told.contains("nothing is overwritten"), "{told}");
    let (done, told) = run("restore", &restored, &from);
    assert!(done, "{told}");
    assert!(told.contains("the server key is missing"), "{told}");
    // It says which key it needs, and the server does not start without it.
    let check = fs::read_to_string(restored.join("server.key.check")).unwrap();
    assert!(told.contains(&check[..12]), "{told}");
    let refused = Launch::default().serve(&restored).output().unwrap();
    assert!(
        said(&refused).contains("server.key is missing"),
        "{}",
        said(&refused)
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
async fn what_lies_in_a_backup_is_its_owners_alone_and_no_key_is_in_it_unasked() {
    let server = Server::start().await;
    let to = folder(&server, "backups");
    let with = folder(&server, "with-key");
    let base = server.instance().base().to_owned();
    let key = fs::read_to_string(server.data_dir().join("server.key")).unwrap();
    for (to, more) in [(&to, None), (&with, Some("--with-server-key"))] {
        let mut words = vec!["--to", text(to), "--url", &base];
        words.extend(more);
        let (done, told) = run("backup", server.data_dir(), &words);
        assert!(done, "{told}");
        assert_eq!(told.contains("can read recovery codes"), more.is_some());
        let found = files(to);
        assert!(found.len() > 3);
        for path in found {
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            assert_eq!(mode(path.parent().unwrap()), 0o700);
        }
        let restored = folder(&server, if more.is_some() { "one" } else { "other" });
        let (done, told) = run("restore", &restored, &["--from", text(to)]);
        assert!(done, "{told}");
        let there = fs::read_to_string(restored.join("server.key")).ok();
        assert_eq!(there, more.map(|_| key.clone()));
    }
}

#[tokio::test]
async fn only_the_administrator_names_a_directory() {
    let server = Server::start().await;
    let stranger = server.instance().client("not-the-token");
    let to = folder(&server, "theirs");
    for client in [stranger, server.client(), server.browser()] {
        let reply = post(&client, "/backups", &json!({ "to": to })).await;
        assert_eq!(reply.status, 401);
        assert_eq!(get(&client, "/backups").await.status, 401);
    }
    assert!(!to.exists());
    let admin = server.admin();
    for bad in [json!({}), json!({ "to": "backups" }), json!({ "to": 5 })] {
        let reply = post(&admin, "/backups", &bad).await;
        assert_eq!(
            (reply.status, reply.code()),
            (400, "invalid_request"),
            "{bad}"
        );
    }
    // What cannot be written is reported; and a backup must not be in the data directory.
    let inside = server.data_dir().join("backups");
    post(&admin, "/backups", &json!({ "to": inside }))
        .await
        .expect(202);
    let last = ended(&server).await;
    assert_eq!(last["status"], "failed");
    let error = last["error"].as_str().unwrap();
    assert!(error.contains("lies in the data directory"), "{error}");
    assert!(!inside.exists());
    let told = get(&admin, "/backups").await.expect(200);
    assert_eq!(told["lastGoodAt"], Value::Null);
}

/// The last backup, once none is running.
async fn ended(server: &Server) -> Value {
    deadline::answered("the end of a backup", deadline::SOON, async || {
        let told = get(&server.admin(), "/backups").await.expect(200);
        (told["running"].is_null() && told["last"].is_object()).then(|| told["last"].clone())
    })
    .await
}

#[tokio::test]
async fn the_schedule_makes_them_and_keeps_as_many_as_it_says() {
    let holder = tempfile::tempdir().unwrap();
    let to = holder.path().join("backups");
    let launch = Launch::default()
        .env("SCRIP_BACKUP_TO", &to)
        .env("SCRIP_BACKUP_EVERY", "1s")
        .env("SCRIP_BACKUP_KEEP", "2");
    let server = Server::launch(launch).await;
    let mut seen = std::collections::BTreeSet::new();
    deadline::until("four backups by the schedule", deadline::SOON, || {
        let names = fs::read_dir(to.join("backups")).ok()?;
        let names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
        assert!(names.len() <= 3, "{names:?}");
        seen.extend(names);
        (seen.len() >= 4).then_some(())
    })
    .await;
    let figures = server.figures().await;
    let age = figures
        .lines()
        .find_map(|line| line.strip_prefix("scrip_backup_age_seconds{} "));
    assert!(age.unwrap().parse::<u64>().unwrap() < 60, "{figures}");
    let told = get(&server.admin(), "/backups").await.expect(200);
    assert!(told["lastGoodAt"].is_string(), "{told}");
}
