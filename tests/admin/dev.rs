//! `scrip dev`: what it prints works as it is.

use std::{os::unix::fs::PermissionsExt as _, process::Command};

use kit::{Demo, tool};

fn shell(line: &str) -> String {
    tool::run(Command::new("sh").arg("-c").arg(line))
}

#[tokio::test]
async fn the_printed_request_deducts_and_the_keys_are_remembered() {
    // Fails with a plain word where there is no curl (Debian package curl).
    tool::run(Command::new("curl").arg("--version"));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let first = Demo::start(&data).await;
    let paste = || shell(&first.request("/deduct"));
    assert_eq!(paste(), r#"{"balance":995,"deducted":true}"#);
    assert_eq!(paste(), r#"{"balance":995,"deducted":false}"#);
    // The printed checkout leads to a page that can be paid on, by a script too.
    let begun = shell(&first.request("/checkout"));
    let (_, url) = begun.split_once("\"url\":\"").expect("an address");
    let (url, _) = url.split_once('"').expect("an address");
    let pay = ["-sS", "-X", "POST", &format!("{url}/pay")];
    let paid = tool::run(Command::new("curl").args(pay));
    assert!(paid.contains(r#""paymentStatus":"paid""#), "{paid}");
    assert_eq!(paste(), r#"{"balance":1995,"deducted":false}"#);
    let names = [
        "Project",
        "Secret key",
        "Publishable key",
        "Admin token",
        "Product",
    ];
    let remembered = names.map(|name| first.value(name));
    first.terminate().await;

    let mode = std::fs::metadata(data.join("dev.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = Demo::start(&data).await;
    assert_eq!(names.map(|name| again.value(name)), remembered);
    // Another key: another deduction.
    let printed = shell(&again.request("/deduct"));
    assert_eq!(printed, r#"{"balance":1990,"deducted":true}"#);
    again.terminate().await;
}
