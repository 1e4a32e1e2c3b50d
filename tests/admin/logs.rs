//! What the log says of a request: its name in every line.

use kit::{
    Launch, Server, deadline,
    receiver::{Receiver, Say},
    stripe,
};
use serde_json::{Value, json};

use crate::post;

/// A server whose provider cannot be reached, and a price to buy.
async fn shop(launch: Launch) -> (Server, String) {
    // Nothing listens there.
    let launch = launch.env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:9");
    let server = Server::launch(launch).await;
    let price = server.add_price(5).await;
    server.set_provider(&stripe::provider()).await;
    (server, price)
}

/// The first line that has all of these.
async fn line(server: &Server, parts: &[&str]) -> String {
    let instance = server.instance();
    deadline::until(&format!("a line with {parts:?}"), deadline::SOON, || {
        let said = instance.said();
        let has_all = |line: &&String| parts.iter().all(|part| line.contains(part));
        said.iter().find(has_all).cloned()
    })
    .await
}

#[tokio::test]
async fn every_line_of_a_request_has_its_name() {
    for (log, format) in [("info", "text"), ("warn", "text"), ("warn", "json")] {
        let launch = Launch::default()
            .env("SCRIP_LOG", log)
            .env("SCRIP_LOG_FORMAT", format);
        let (server, price) = shop(launch).await;
        let buy = json!({"priceId": price});
        let reply = server.client().post("/api/v1/checkout", &buy).await;
        assert_eq!(reply.code(), "provider_error");
        let id = reply.headers["x-request-id"].to_str().unwrap();
        let said = line(&server, &["provider", "failed", id]).await;
        assert!(said.contains("/api/v1/checkout"), "{said}");
        if format == "json" {
            let said: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said["span"]["id"], id, "{said}");
        }
    }
}

#[tokio::test]
async fn what_is_administrated_is_logged() {
    let server = Server::start().await;
    let reply = post(&server.admin(), "/projects", &json!({"name": "Second"})).await;
    let id = reply.headers["x-request-id"].to_str().unwrap().to_owned();
    reply.expect(201);
    let said = line(&server, &["administration", &id]).await;
    for part in ["POST", "/api/admin/v1/projects", "201", "127.0.0.1"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!said.contains("Second"), "{said}");
}

#[tokio::test]
async fn an_endpoint_that_is_switched_off_is_told_of() {
    let launch = Launch::default().env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let server = Server::launch(launch).await;
    let receiver = Receiver::start().await;
    let path = format!("/projects/{}/webhooks", server.project().id);
    let url = format!("{}?token=a-secret", receiver.url);
    let made = post(&server.admin(), &path, &json!({"url": url})).await;
    let made = made.expect(201);
    receiver.next(Say::Status(410));
    server.grant("ann", 1, "g1").await;
    let id = made["id"].as_str().unwrap();
    let said = line(&server, &["WARN", "sent nothing any more", id]).await;
    assert!(said.contains(&server.project().id), "{said}");
    assert!(!said.contains("a-secret"), "{said}");
}
