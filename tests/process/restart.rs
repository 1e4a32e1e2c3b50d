//! Changes by an administrator survive a crash and a clean end.

use std::path::Path;

use kit::{Client, Server, events::Events, instance::Instance};
use reqwest::Method;
use scrip::{
    compose::Service,
    config::{Config, Flags},
    secrets::ProvidedSecrets,
};
use serde_json::json;

#[tokio::test]
async fn every_acknowledged_change_is_there_after_a_crash() {
    let mut server = Server::start().await;
    let admin = server.admin();
    let keys = format!("{}/keys", server.project_path());
    let product = format!("{}/products/{}", server.project_path(), server.product());
    let revoked = admin.post(&keys, &json!({"kind": "secret"})).await;
    let revoked = revoked.expect(201);
    let key = format!("{keys}/{}", revoked["id"].as_str().unwrap());
    Client::send(admin.request(Method::DELETE, &key))
        .await
        .unwrap();
    let price = json!({"amountCents": 50, "currency": "EUR", "interval": "one_time"});
    let new_price = admin.post(&format!("{product}/prices"), &price).await;
    new_price.expect(201);
    let renamed = admin.patch(&product, &json!({"name": "Renamed"})).await;
    renamed.expect(200);
    let before = admin.get(&product).await.expect(200);

    server.crash().await;
    server.start_again().await;
    assert_eq!(server.admin().get(&product).await.expect(200), before);
    assert_eq!(server.client().get("/api/v1/me").await.status, 200);
    let refused = server.instance().client(revoked["key"].as_str().unwrap());
    assert_eq!(refused.get("/api/v1/me").await.code(), "invalid_api_key");

    server.restart().await;
    assert_eq!(server.admin().get(&product).await.expect(200), before);
    assert!(server.terminate().await.success());
    server.verify();
}

#[tokio::test]
async fn a_clean_end_does_not_wait_for_streams() {
    let mut server = Server::start().await;
    server.grant("ann", 10, "k").await;
    let path = "/api/v1/wallets/external/stream?externalUserId=ann";
    let mut stream = Events::open(&server.client(), path).await.ok().unwrap();
    stream.balance(10).await;
    // Without the streams' end it takes the half minute that requests in flight have.
    let started = std::time::Instant::now();
    assert!(server.terminate().await.success());
    assert!(started.elapsed().as_secs() < 25);
    assert_eq!(stream.event().await, None);
    server.verify();
}

/// Writes a note into a data directory that no server uses, as another release might.
async fn put_note(data_dir: &Path, key: &[u8], body: &[u8]) {
    let config = Config::read(&Flags {
        data_dir: Some(data_dir.to_owned()),
        listen: Some("127.0.0.1:0".parse().unwrap()),
        config: None,
    });
    let service = Service::start(config.unwrap(), ProvidedSecrets::default())
        .await
        .unwrap();
    let note = persistence::Note {
        key: key.into(),
        body: Some(body.into()),
    };
    service.app.handle.put_notes(vec![note]).await.unwrap();
    service.close().await.unwrap();
}

#[tokio::test]
async fn a_note_that_cannot_be_read_is_named_and_never_skipped() {
    // A kind of a later release, and a later version of a known kind.
    let newer = [&[6][..], &[7; 16]].concat();
    for (key, body, says) in [
        (&b"\xfenew"[..], &b"\x01"[..], "fe6e6577"),
        (&newer, &[9, 1, 2], "its version is 9"),
    ] {
        let mut server = Server::start().await;
        assert!(server.terminate().await.success());
        put_note(server.data_dir(), key, body).await;
        // The note is left as it is: it is still there at the next attempt.
        for _ in 0..2 {
            let mut process = Instance::begin(server.launch_settings(), server.data_dir());
            let status = process.wait(kit::deadline::SOON).await;
            let log = process.output().join("\n");
            assert!(!status.success(), "{log}");
            assert!(log.contains("the note") && log.contains(says), "{log}");
        }
    }
}
