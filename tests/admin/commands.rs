//! Commands that need no running server: what they print, and how they exit.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use kit::{
    Instance, Launch, Server,
    launch::binary,
    process::{Process, listening},
};

/// Runs the binary to its end.
fn run(words: &[&str]) -> Output {
    let mut command = Command::new(binary());
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
    let reply = kit::Client::new(&base.1, &token)
        .get("/api/admin/v1/projects")
        .await;
    assert_eq!(reply.status, 200);
    let mut first = base.0;
    first.terminate();
    assert!(first.wait(kit::deadline::SOON).await.success());
    let key = std::fs::metadata(data.join("server.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);

    let mut second = begin(&data);
    let base = second.hears("the address", listening).await;
    assert!(
        !second.said().iter().any(|line| line.contains("token")),
        "{:?}",
        second.said()
    );
    let reply = kit::Client::new(&base, &token)
        .get("/api/admin/v1/projects")
        .await;
    assert_eq!(reply.status, 200);
    second.terminate();
    assert!(second.wait(kit::deadline::SOON).await.success());
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
    Instance::begin(&Launch::default().without_token(), data)
}

/// A folder with only the binary. It is linked and not copied: a file that is being written cannot be executed,
/// and another test's child may have inherited the descriptor.
fn alone() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::hard_link(binary(), folder.path().join("scrip")).unwrap();
    folder
}

#[test]
fn bench_is_a_program_of_its_own() {
    let folder = alone();
    let scrip = folder.path().join("scrip");
    // A shell stands in for `scrip-bench`: it prints its arguments and exits as told.
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("scrip-bench")).unwrap();
    let script = r#"echo "$SCRIP_BENCH_SERVER" "$@"; exit 7"#;
    let words = [
        "bench", "-c", script, "sh", "http", "--help", "-V", "--", "x",
    ];
    let output = Command::new(&scrip).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let rest = said.strip_prefix(scrip.to_str().unwrap());
    assert_eq!(rest.map(str::trim), Some("http --help -V -- x"), "{said}");
    // Its exit status is passed on.
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn bench_says_what_to_build_where_there_is_none() {
    let folder = alone();
    let mut command = Command::new(folder.path().join("scrip"));
    command.args(["bench", "http"]).env("PATH", folder.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = errors(&output);
    assert!(
        said.contains("cargo build --release -p scrip-bench"),
        "{said}"
    );
}

#[test]
fn shells_and_manuals_know_every_command() {
    let help = run(&["--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let (_, rest) = help.split_once("Commands:").expect("a list of commands");
    let (list, _) = rest.split_once("Options:").expect("a list of options");
    let words = list.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = words
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&name| name != "help")
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man");
    let written = run(&["man", "--dir", dir.to_str().unwrap()]);
    assert!(written.status.success(), "{}", errors(&written));
    let one_page = String::from_utf8_lossy(&run(&["man"]).stdout).into_owned();
    assert!(one_page.contains(".TH"), "{one_page}");
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success(), "{}", errors(&output));
        let script = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in &commands {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
    for name in &commands {
        let page = dir.join(format!("scrip-{name}.1"));
        assert!(page.is_file(), "{}", page.display());
    }
}

#[tokio::test]
async fn health_is_asked_of_the_server_that_the_configuration_names() {
    let server = Server::start().await;
    let address = server.instance().base().trim_start_matches("http://");
    let ask = |address: &str| {
        let mut command = Command::new(binary());
        command.arg("health").env("SCRIP_LISTEN", address);
        command.output().expect("the binary starts")
    };
    let well = ask(address);
    assert!(well.status.success(), "{}", errors(&well));
    let silent = ask("127.0.0.1:1");
    assert_eq!(silent.status.code(), Some(1));
    assert!(
        errors(&silent).contains("no server answers at 127.0.0.1:1"),
        "{}",
        errors(&silent)
    );
}
