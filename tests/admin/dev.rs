//! `scrip dev`: what it prints works as it is.

use std::{os::unix::fs::PermissionsExt as _, path::Path, process::Command, time::Duration};

use kit::{launch::binary, process::Process, tool};

const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// Starts it and waits for the last line of what it prints.
async fn start(data: &Path) -> (Process, Vec<String>) {
    let mut command = Command::new(binary());
    command
        .args(["dev", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data);
    command.env_remove("SCRIP_ADMIN_TOKEN");
    let mut process = Process::start(command, false);
    process
        .hears("the request to paste", |line| {
            line.contains("idempotencyKey\":").then_some(())
        })
        .await;
    let said = process.said();
    (process, said)
}

/// The printed command to deduct, joined to one line.
fn command(said: &[String]) -> String {
    curl(said, "/deduct")
}

/// The printed command for this path, joined to one line.
fn curl(said: &[String], path: &str) -> String {
    let start = said
        .iter()
        .position(|line| line.starts_with("curl ") && line.contains(path))
        .expect("a curl");
    let lines = said[start..]
        .iter()
        .map(|line| line.trim_end_matches('\\').trim());
    lines.take(4).collect::<Vec<_>>().join(" ")
}

fn value(said: &[String], name: &str) -> String {
    let line = said.iter().find_map(|line| line.trim().strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in {said:?}"))
        .trim()
        .to_owned()
}

#[tokio::test]
async fn the_printed_request_deducts_and_the_keys_are_remembered() {
    // Fails with a plain word where there is no curl (Debian package curl).
    tool::run(Command::new("curl").arg("--version"));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let (mut process, said) = start(&data).await;
    let paste = || tool::run(Command::new("sh").arg("-c").arg(command(&said)));
    assert_eq!(paste(), r#"{"balance":995,"deducted":true}"#);
    assert_eq!(paste(), r#"{"balance":995,"deducted":false}"#);
    // The printed checkout leads to a page that can be paid on, by a script too.
    let begun = tool::run(Command::new("sh").arg("-c").arg(curl(&said, "/checkout")));
    let (_, url) = begun.split_once("\"url\":\"").expect("an address");
    let (url, _) = url.split_once('"').expect("an address");
    let pay = ["-sS", "-X", "POST", &format!("{url}/pay")];
    let paid = tool::run(Command::new("curl").args(pay));
    assert!(paid.contains(r#""paymentStatus":"paid""#), "{paid}");
    assert_eq!(paste(), r#"{"balance":1995,"deducted":false}"#);
    process.terminate();
    assert!(process.wait(ENDS_WITHIN).await.success());

    let mode = std::fs::metadata(data.join("dev.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let (mut process, again) = start(&data).await;
    for name in [
        "Project",
        "Secret key",
        "Publishable key",
        "Admin token",
        "Product",
    ] {
        assert_eq!(value(&again, name), value(&said, name));
    }
    // Another key: another deduction.
    let printed = tool::run(Command::new("sh").arg("-c").arg(command(&again)));
    assert_eq!(printed, r#"{"balance":1990,"deducted":true}"#);
    process.terminate();
    assert!(process.wait(ENDS_WITHIN).await.success());
}
