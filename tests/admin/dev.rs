//! `scrip dev`: what it prints works as it is.

use std::{os::unix::fs::PermissionsExt as _, path::Path, process::Command, time::Duration};

use crate::support::{
    launch::BINARY,
    process::Process,
    stripe::{self, Stripe},
    tool,
};

const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// Starts it and waits for the last line of what it prints.
async fn start(data: &Path) -> (Process, Vec<String>) {
    started(dev(data)).await
}

fn dev(data: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(["dev", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data);
    command.env_remove("SCRIP_ADMIN_TOKEN");
    command
}

async fn started(command: Command) -> (Process, Vec<String>) {
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

// The double of Stripe answers while the command runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stripe_key_is_all_the_set_up_that_real_payments_need() {
    tool::run(Command::new("curl").arg("--version"));
    let stripe = Stripe::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let with = |key: &str| {
        let mut command = dev(&data);
        command.args(["--stripe-key", key]);
        command.env("SCRIP_STRIPE_API_BASE", &stripe.base);
        command
    };
    let (mut process, said) = started(with(stripe::SECRET_KEY)).await;
    assert!(value(&said, "Payments").contains("Stripe"), "{said:?}");
    // Without any webhook: what happened is found in the account's own list.
    let paste = curl(&said, "/checkout");
    let opened = tool::run(Command::new("sh").arg("-c").arg(paste));
    let opened: serde_json::Value = serde_json::from_str(&opened).unwrap();
    let session = stripe.pay(opened["checkoutId"].as_str().unwrap());
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    stripe.list("evt_1", "checkout.session.completed", &session, now);
    let base = said
        .iter()
        .find_map(|line| line.strip_prefix("scrip listening on "));
    let client = crate::support::client::Client::new(base.unwrap(), &value(&said, "Secret key"));
    let path = format!("/api/v1/orders/{}", opened["orderId"].as_str().unwrap());
    let end = std::time::Instant::now() + ENDS_WITHIN;
    while client.get(&path).await.expect(200)["status"] != "paid" {
        assert!(std::time::Instant::now() < end, "it was never found");
    }
    process.terminate();
    assert!(process.wait(ENDS_WITHIN).await.success());
    for (key, words) in [
        ("sk_live_of_the_shop", "test mode"),
        ("pk_test_1", "publishable"),
    ] {
        let mut command = with(key);
        let ended = command.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && said.contains(words), "{said}");
        assert!(!said.contains(key), "{said}");
    }
}
