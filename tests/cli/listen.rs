//! `scrip listen`: events as they come, and forwarded like webhooks.

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use kit::{Server, process::Process};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

type Received = (HeaderMap, Bytes);

async fn receive(
    State(to): State<UnboundedSender<Received>>,
    headers: HeaderMap,
    body: Bytes,
) -> &'static str {
    to.send((headers, body)).unwrap();
    "thanks"
}

const SECRET: &[u8] = b"what both of them know about";

#[tokio::test]
async fn events_are_shown_from_now_on_and_sent_on_signed() {
    let server = Server::start().await;
    server.grant("early", 1, "g0").await;
    let (sender, mut received) = unbounded_channel();
    let router = Router::new()
        .route("/hooks", post(receive))
        .with_state(sender);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = format!("http://{}/hooks", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let secret = format!("whsec_{}", BASE64.encode(SECRET));
    let words = ["listen", "--types", "wallet.credited", "--forward-to", &to];
    let mut command = server.command(&words);
    command.env("SCRIP_WEBHOOK_SECRET", &secret);
    let mut process = Process::start(command, false);
    let listening = |line: &str| line.starts_with("listening to").then_some(());
    process.wait_for_line("that it listens", listening).await;
    server.grant("ann", 100, "g1").await;
    let shown = process.wait_for_line("the event", |line| {
        line.contains("wallet.credited").then(|| line.to_owned())
    });
    let shown = shown.await;
    assert!(
        shown.contains("user ann") && shown.contains("balance 100"),
        "{shown}"
    );
    let (headers, body) = received.recv().await.unwrap();
    process
        .wait_for_line("what came of it", |line| {
            line.contains("-> 200 OK").then_some(())
        })
        .await;

    let header = |name: &str| headers[name].to_str().unwrap();
    let path = "/api/v1/events?types=wallet.credited";
    let events = server.client().get(path).await.expect(200);
    let event = &events["events"][1];
    assert_eq!(header("webhook-id"), event["id"].as_str().unwrap());
    let event: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        event,
        json!({"type": event["type"], "timestamp": event["timestamp"],
            "recordedAt": event["recordedAt"], "data": event["data"]})
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
    mac.update(format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).as_bytes());
    mac.update(&body);
    let signature = BASE64.encode(&mac.finalize().into_bytes());
    assert_eq!(header("webhook-signature"), format!("v1,{signature}"));
    let log = process.output().join("\n");
    assert!(
        !log.contains("early"),
        "what was before is not shown: {log}"
    );
    assert!(!log.contains(&secret), "{log}");
}

#[tokio::test]
async fn all_that_is_kept_is_shown_to_programs_and_a_server_that_goes_is_waited_for() {
    let mut server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    let words = ["listen", "--json", "--from-start"];
    let mut process = Process::start(server.command(&words), false);
    let mut kinds = Vec::new();
    for kind in ["wallet.created", "wallet.credited"] {
        let event = process.wait_for_line(kind, |line| {
            let event = serde_json::from_str::<Value>(line).ok()?;
            (event["type"] == kind).then_some(event)
        });
        let event = event.await;
        assert_eq!(event["data"]["externalUserId"], "ann");
        kinds.push(event["type"].clone());
    }
    assert_eq!(kinds.len(), 2);
    server.crash().await;
    process
        .wait_for_line("that it tries on", |line| {
            line.contains("Trying again.").then_some(())
        })
        .await;
    assert!(process.ended().is_none());
}

#[tokio::test]
async fn unusable_arguments_fail_at_once() {
    let server = Server::start().await;
    for (words, why) in [
        (
            &["--types", "order.payed"][..],
            "invalid value 'order.payed'",
        ),
        (
            &["--forward-to", "http://127.0.0.1:1", "--secret", "hush"],
            "--secret must be",
        ),
        (&["--key", "pay_sk_nobody"], "does not know this key"),
        (
            &["--key", server.publishable()],
            "(403 secret_key_required)",
        ),
    ] {
        let output = server
            .command(&[&["listen"][..], words].concat())
            .output()
            .unwrap();
        assert!(!output.status.success(), "{words:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(why), "{words:?}: {text}");
        assert!(!text.contains("hush") && !text.contains("nobody"), "{text}");
    }
}
