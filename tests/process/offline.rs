//! `scrip serve --offline`: a copy of the data, served for a drill, answers its callers and sends nothing itself.

use kit::{
    Launch, Server,
    receiver::{Receiver, ScriptedResponse},
};
use serde_json::json;

#[tokio::test]
async fn a_drill_reads_and_spends_and_reaches_nobody_else() {
    let receiver = Receiver::start().await;
    let usual = Launch::default().env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let mut server = Server::launch(usual.clone()).await;
    let hooks = format!("{}/webhooks", server.project_path());
    let endpoint = json!({"url": receiver.url});
    let hook = server.admin().post(&hooks, &endpoint).await;
    hook.expect(201);
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let price = server.add_price(5).await;
    receiver.always(Some(ScriptedResponse::Status(500)));
    server.grant("ann", 10, "g1").await;
    receiver.wait_for(1).await;
    assert!(server.terminate().await.success());
    let before = receiver.received().len();

    server.start_as(&usual.clone().flag("--offline")).await;
    let log = server.instance().output().join("\n");
    assert!(log.contains("this server runs offline"), "{log}");
    let ready = server.client().get("/readyz").await.expect(200);
    assert_eq!(ready["offline"], true);
    // Its event would be sent at once.
    server.grant("bob", 10, "g2").await;
    let deduct = json!({"externalUserId": "ann", "amount": 3, "idempotencyKey": "d1"});
    let client = server.client();
    let deducted = client.post("/api/v1/wallets/external/deduct", &deduct);
    assert_eq!(deducted.await.expect(200)["balance"], 7);
    let buy = json!({"externalUserId": "ann", "priceId": price});
    let refused = server.client().post("/api/v1/checkout", &buy).await;
    assert_eq!(
        (refused.status, refused.code()),
        (409, "provider_not_configured")
    );
    let why = refused.body["message"].as_str().unwrap();
    assert!(why.contains("runs offline"), "{why}");
    assert!(server.terminate().await.success());
    assert_eq!(receiver.received().len(), before);

    receiver.always(None);
    server.start_as(&usual).await;
    receiver
        .until("what the drill held back", |all| all.len() > before)
        .await;
}

#[test]
fn a_process_that_would_join_others_is_no_drill() {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::default().env("SCRIP_STORAGE_URL", "postgres://scrip@127.0.0.1:1/scrip");
    let output = launch
        .flag("--offline")
        .serve(&folder.path().join("data"))
        .output();
    let output = output.unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("leave out storage.url"), "{text}");
}
