//! How the server starts: what refuses the start, and what the first start creates.

use std::{os::unix::fs::PermissionsExt as _, path::Path, process::Output};

use kit::{
    Instance, Launch, Server,
    process::{Process, listening},
};

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused_in_plain_words() {
    let server = Server::start().await;
    let mut second = Launch::default().serve(server.data_dir());
    let output = second.output().expect("the binary starts");
    assert!(!output.status.success());
    let text = errors(&output);
    assert!(text.contains("another Scrip is using"), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    assert_eq!(server.client().get("/api/v1/me").await.status, 200);
}

#[tokio::test]
async fn an_address_in_use_is_refused_before_the_data_is_touched() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let address = server.instance().base().trim_start_matches("http://");
    let mut command = Launch::default().command("serve", &data);
    let output = command.args(["--listen", address]).output().unwrap();
    assert!(!output.status.success());
    let output = errors(&output);
    assert!(output.contains("(setting `listen`)"), "{output}");
    assert!(output.contains("--listen 127.0.0.1:0"), "{output}");
    let mut command = Launch::default().serve(&data);
    let output = command.env("SCRIP_ADMIN_LISTEN", address).output().unwrap();
    let output = errors(&output);
    assert!(output.contains("Set admin.listen to another"), "{output}");
    assert!(!data.exists());
}

#[tokio::test]
async fn an_open_address_of_a_trial_is_warned_about() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Launch::default().command("dev", folder.path());
    command.args(["--listen", "0.0.0.0:0"]);
    let mut process = Process::start(command, false);
    let warned = |line: &str| {
        let warns = line.contains("plain HTTP") && line.contains("can buy without money");
        warns.then_some(())
    };
    process.wait_for_line("a warning", warned).await;
}

#[test]
fn a_bad_configuration_is_refused_by_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    std::fs::write(&file, "[journal]\ncache = 1\n").unwrap();
    let mut command = Launch::default().command("serve", folder.path());
    let output = command.arg("--config").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let output = errors(&output);
    let why = "line 2: unknown key `journal.cache`, did you mean `journal.cache_mb`?";
    assert!(output.contains(why), "{output}");
}

#[tokio::test]
async fn a_token_is_made_once_and_put_into_a_file_instead_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (token, base) = first_start(&data).await;
    let reply = kit::Client::new(&base.1, &token)
        .get("/api/admin/v1/projects")
        .await;
    assert_eq!(reply.status, 200);
    let mut first = base.0;
    let log = first.output().join("\n");
    assert!(!log.contains(&token) && !log.contains("link="), "{log}");
    first.terminate();
    assert!(first.wait(kit::deadline::SOON).await.success());
    let key = std::fs::metadata(data.join("server.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);

    let mut second = begin(&data);
    let base = second.wait_for_line("the address", listening).await;
    assert!(
        !second.output().iter().any(|line| line.contains("token")),
        "{:?}",
        second.output()
    );
    let reply = kit::Client::new(&base, &token)
        .get("/api/admin/v1/projects")
        .await;
    assert_eq!(reply.status, 200);
    second.terminate();
    assert!(second.wait(kit::deadline::SOON).await.success());
}

#[tokio::test]
async fn a_start_that_waits_for_its_database_says_so_and_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::default().env("SCRIP_STORAGE_URL", "postgres://scrip@127.0.0.1:1/scrip");
    let mut process = Instance::begin(&launch, &folder.path().join("data"));
    let waits = |line: &str| line.contains("trying again, Ctrl-C ends").then_some(());
    process.wait_for_line("that it waits", waits).await;
    process.terminate();
    assert!(process.wait(kit::deadline::SOON).await.success());
}

#[tokio::test]
async fn a_supervisor_is_notified_when_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = tokio::net::UnixDatagram::bind(&path).unwrap();
    let launch = Launch::default().env("NOTIFY_SOCKET", &path);
    let instance = Instance::start(&launch, &folder.path().join("data")).await;
    let mut message = [0; 64];
    let length = socket.recv(&mut message).await.unwrap();
    assert_eq!(&message[..length], b"READY=1\n");
    assert_eq!(instance.admin().get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_request_that_names_no_host_or_two_is_refused_in_json() {
    use std::io::{Read as _, Write as _};
    let server = Server::start().await;
    let address = server.instance().base().trim_start_matches("http://");
    let ask = |head: &str| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(stream, "GET /healthz {head}Connection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("HTTP/1.1\r\nHost: a\r\n").starts_with("HTTP/1.1 200"));
    assert!(ask("HTTP/1.0\r\n").starts_with("HTTP/1.0 200"));
    for head in ["HTTP/1.1\r\n", "HTTP/1.1\r\nHost: a\r\nHost: b\r\n"] {
        let answer = ask(head);
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("x-request-id: req_"), "{answer}");
        assert!(answer.contains("\"code\":\"invalid_request\""), "{answer}");
    }
}

async fn first_start(data: &Path) -> (String, (Process, String)) {
    let mut process = begin(data);
    let file = process.wait_for_line("where the token is", |line| {
        let (_, rest) = line.split_once("a new administrator token is in ")?;
        Some(rest.split_once(": keep it")?.0.to_owned())
    });
    let file = file.await;
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = std::fs::read_to_string(file).unwrap().trim().to_owned();
    let base = process.wait_for_line("the address", listening).await;
    (token, (process, base))
}

fn begin(data: &Path) -> Process {
    Instance::begin(&Launch::default().without_token(), data)
}
