//! Deliveries to a project's own servers, checked with the libraries of Standard Webhooks for three languages.

use kit::{
    Launch, Server,
    receiver::{Received, Receiver},
};
use scrip_wallet::{EventData, WebhookVerifier};
use serde_json::{Value, json};

use crate::node::{folder, run_tool};

fn written(received: &[Received], secrets: &[&str]) -> Value {
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let deliveries = received.iter().map(|one| {
        let headers = names.map(|name| (name.to_owned(), json!(one.header(name))));
        json!({
            "headers": Value::Object(headers.into_iter().collect()),
            "body": String::from_utf8(one.raw.clone()).unwrap(),
        })
    });
    json!({"secrets": secrets, "deliveries": deliveries.collect::<Vec<_>>()})
}

/// Verifies with the Rust client: with the right secret, and once with a modified delivery.
fn verified_in_rust(delivery: &Received, secret: &str) {
    let verifier = WebhookVerifier::new(secret).unwrap();
    let event = verifier.verify(&delivery.raw, &delivery.headers).unwrap();
    assert_eq!(event.id, delivery.header("webhook-id"));
    assert_eq!(event.kind, delivery.body["type"]);
    assert!(!matches!(event.data, EventData::Other(_)), "{event:?}");
    assert_eq!(
        serde_json::to_value(&event.data).unwrap(),
        delivery.body["data"]
    );
    let other = [&delivery.raw[..], b" "].concat();
    assert!(verifier.verify(&other, &delivery.headers).is_err());
    let mut late = delivery.headers.clone();
    late.insert("webhook-timestamp", "1700000000".parse().unwrap());
    assert!(verifier.verify(&delivery.raw, &late).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_standards_own_libraries_verify_deliveries() {
    let launch = Launch::default().env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let server = Server::launch(launch).await;
    let receiver = Receiver::start().await;
    let path = format!("{}/webhooks", server.project_path());
    let endpoint = server
        .admin()
        .post(&path, &json!({"url": receiver.url}))
        .await;
    let endpoint = endpoint.expect(201);
    let id = endpoint["id"].as_str().unwrap();
    server.grant("Zoë 😀 \"Ω\"", 5, "a").await;
    receiver.wait_for(2).await;
    let rotate = format!("{path}/{id}/rotate-secret");
    let rotated = server.admin().post(&rotate, &Value::Null).await.expect(200);
    server.grant("ann", 7, "b").await;
    let received = receiver.wait_for(4).await;
    let old = endpoint["secret"].as_str().unwrap();
    let new = rotated["secret"].as_str().unwrap();
    let place = tempfile::tempdir().unwrap();
    let python = folder().join("venv/bin/python");
    assert!(
        python.exists(),
        "the Python packages of the external tests are not there: scripts/setup sets it up"
    );
    // Before the rotation one secret signs, after it both do.
    for (part, secrets) in [
        (&received[..2], &[old][..]),
        (&received[2..], &[old, new][..]),
    ] {
        for (delivery, secret) in part
            .iter()
            .flat_map(|it| secrets.iter().map(move |s| (it, s)))
        {
            verified_in_rust(delivery, secret);
        }
        let file = place.path().join("deliveries.json");
        std::fs::write(&file, written(part, secrets).to_string()).unwrap();
        let file = file.to_str().unwrap().to_owned();
        let python = python.to_str().unwrap().to_owned();
        let lines = tokio::task::spawn_blocking(move || {
            [
                run_tool("node", &["webhooks.mjs", &file], &[]),
                run_tool(&python, &["webhooks.py", &file], &[]),
            ]
        });
        let expected = format!("{} verified", part.len() * secrets.len());
        for lines in lines.await.unwrap() {
            assert_eq!(lines.trim(), expected);
        }
    }
}
