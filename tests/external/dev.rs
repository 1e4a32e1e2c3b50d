//! `scrip dev`: what it prints works when pasted.

use std::{os::unix::fs::PermissionsExt as _, process::Command};

use kit::{
    Demo, Launch, deadline,
    stripe::{self, Stripe},
    tool,
};

fn shell(line: &str) -> String {
    tool::run(Command::new("sh").arg("-c").arg(line))
}

#[tokio::test]
async fn the_printed_request_deducts_and_the_keys_are_remembered() {
    // Fails with a clear message where there is no curl (Debian package curl).
    tool::run(Command::new("curl").arg("--version"));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let first = Demo::start(&data).await;
    let paste = || shell(&first.request("/deduct"));
    assert_eq!(paste(), r#"{"balance":995,"deducted":true}"#);
    assert_eq!(paste(), r#"{"balance":995,"deducted":false}"#);
    // The printed checkout leads to a page on which a script can pay, too.
    let checkout = shell(&first.request("/checkout"));
    let (_, url) = checkout.split_once("\"url\":\"").expect("an address");
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
    // Another key, so another deduction.
    let printed = shell(&again.request("/deduct"));
    assert_eq!(printed, r#"{"balance":1990,"deducted":true}"#);
    again.terminate().await;
}

// The double of Stripe answers while the command runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stripe_key_is_all_the_set_up_that_real_payments_need() {
    let stripe = Stripe::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let with = |key: &str| {
        let mut command = Launch::default().without_token().dev(&data);
        command.args(["--stripe-key", key]);
        command.env("SCRIP_STRIPE_API_BASE", &stripe.base);
        command
    };
    let demo = Demo::of(with(stripe::SECRET_KEY)).await;
    assert!(demo.value("Payments").contains("Stripe"));
    // Without a webhook: payments are found in the account's own list of events.
    let opened = shell(&demo.request("/checkout"));
    let opened: serde_json::Value = serde_json::from_str(&opened).unwrap();
    let session = stripe.pay(opened["checkoutId"].as_str().unwrap());
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    stripe.list("evt_1", "checkout.session.completed", &session, now);
    let client = demo.client(&demo.value("Secret key"));
    let path = format!("/api/v1/orders/{}", opened["orderId"].as_str().unwrap());
    deadline::answered("the payment to be found", deadline::SOON, async || {
        let order = client.get(&path).await.expect(200);
        (order["status"] == "paid").then_some(())
    })
    .await;
    demo.terminate().await;
    for (key, words) in [
        ("sk_live_of_the_shop", "test mode"),
        ("pk_test_1", "Publishable"),
    ] {
        let ended = with(key).output().unwrap();
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && text.contains(words), "{text}");
        assert!(!text.contains(key), "{text}");
    }
}
