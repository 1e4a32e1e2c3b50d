//! The commands beside the server: what they print, and how they exit.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{Launch, Server, launch::BINARY, process::Process};

/// Runs the binary to its end.
fn run(words: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command
        .args(words)
        .stdin(Stdio::null())
        .env_remove("SCRIP_ADMIN_TOKEN");
    command.output().expect("the binary starts")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused_in_plain_words() {
    let server = Server::start().await;
    let mut second = Launch::default().serve(server.data_dir());
    let output = second.output().expect("the binary starts");
    assert!(!output.status.success());
    let said = errors(&output);
    assert!(said.contains("another Scrip is using"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(server.client().get("/api/v1/me").await.status, 200);
}

#[tokio::test]
async fn an_address_in_use_is_refused_before_the_data_is_touched() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let address = server.instance().base().trim_start_matches("http://");
    let output = run(&[
        "serve",
        "--listen",
        address,
        "--data-dir",
        data.to_str().unwrap(),
    ]);
    assert!(!output.status.success());
    assert!(
        errors(&output).contains("cannot listen on"),
        "{}",
        errors(&output)
    );
    assert!(!data.exists());
}

#[test]
fn a_bad_configuration_is_refused_by_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    std::fs::write(&file, "[journal]\ncache = 1\n").unwrap();
    let output = run(&["serve", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = errors(&output);
    assert!(said.contains("unknown key `journal.cache`"), "{said}");
}

#[test]
fn there_is_nothing_to_verify_where_there_is_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["verify", "--data-dir", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors(&output).contains("holds no data"),
        "{}",
        errors(&output)
    );
}

#[test]
fn the_descriptions_are_printed_without_a_server() {
    for (words, path) in [
        (&["openapi"][..], "/wallets/external/deduct"),
        (&["openapi", "--admin"][..], "/projects/{projectId}/keys"),
    ] {
        let output = run(words);
        assert!(output.status.success(), "{}", errors(&output));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        assert!(document["paths"][path].is_object(), "{path}");
    }
}

#[tokio::test]
async fn a_token_is_made_once_and_printed_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (token, base) = first_start(&data).await;
    let reply = crate::support::Client::new(&base.1, &token)
        .get("/api/admin/v1/projects")
        .await;
    assert_eq!(reply.status, 200);
    let mut first = base.0;
    first.terminate();
    assert!(
        first
            .wait(std::time::Duration::from_secs(60))
            .await
            .success()
    );
    let key = std::fs::metadata(data.join("server.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);

    let mut second = begin(&data);
    let base = second.hears("the address", listening).await;
    assert!(
        !second.said().iter().any(|line| line.contains("token")),
        "{:?}",
        second.said()
    );
    let reply = crate::support::Client::new(&base, &token)
        .get("/api/admin/v1/projects")
        .await;
    assert_eq!(reply.status, 200);
    second.terminate();
    assert!(
        second
            .wait(std::time::Duration::from_secs(60))
            .await
            .success()
    );
}

async fn first_start(data: &Path) -> (String, (Process, String)) {
    let mut process = begin(data);
    let token = process.hears("the token", |line| {
        let (_, token) = line.split_once("administrator token, shown only this once: ")?;
        Some(token.to_owned())
    });
    let token = token.await;
    let base = process.hears("the address", listening).await;
    (token, (process, base))
}

fn begin(data: &Path) -> Process {
    let mut command = Command::new(BINARY);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data);
    command.env_remove("SCRIP_ADMIN_TOKEN");
    Process::start(command, false)
}

fn listening(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening on ")?;
    Some(rest.split_whitespace().next()?.to_owned())
}
