//! `scrip reconcile`: the result that it prints, and its exit status.

use std::process::Output;

use kit::{
    Launch, Server,
    stripe::{self, Stripe},
};
use serde_json::json;

async fn reconcile(server: &Server, words: &[&str]) -> Output {
    let mut command = server.command(&[&["reconcile"], words].concat());
    let run = tokio::task::spawn_blocking(move || command.output().expect("the binary starts"));
    run.await.unwrap()
}

#[tokio::test]
async fn it_succeeds_only_where_every_cent_is_accounted_for() {
    let stripe = Stripe::start().await;
    let launch = Launch::default().env("SCRIP_STRIPE_API_BASE", &stripe.base);
    let server = Server::launch(launch).await;
    server.set_provider(&stripe::provider()).await;
    let price = server.add_price(100).await;
    let printed = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let fine = reconcile(&server, &[]).await;
    assert!(fine.status.success(), "{fine:?}");
    assert!(printed(&fine).contains("balanced     true"), "{fine:?}");

    let body = json!({"priceId": price, "externalUserId": "ann"});
    let body = server
        .client()
        .post("/api/v1/checkout", &body)
        .await
        .expect(200);
    let session = stripe.pay(body["checkoutId"].as_str().unwrap());
    // Only half of the order's amount was charged.
    let charge = stripe.charged("pi_1", &session["metadata"], 250, 0);
    let now = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs();
    let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
    stripe.set(&path, json!({"created": now - 60}));
    let differs = reconcile(&server, &["--project", &server.project().id.to_string()]).await;
    assert_eq!(differs.status.code(), Some(1), "{differs:?}");
    let printed = printed(&differs);
    for text in [
        "charges      1",
        "FIRST DIFFERENCES:",
        charge["id"].as_str().unwrap(),
        "2.50 EUR",
    ] {
        assert!(printed.contains(text), "{text}: {printed}");
    }
    let errors = String::from_utf8_lossy(&differs.stderr).into_owned();
    assert!(errors.contains("1 difference"), "{errors}");
    // Another time has no payments.
    let span = ["--from", "2026-01-01", "--to", "2026-01-02"];
    assert!(reconcile(&server, &span).await.status.success());
}
