//! What an administrator did stands after a crash and after a clean end.

use reqwest::Method;
use serde_json::json;

use crate::{
    ADMIN, get, patch, post, product, project,
    support::{Client, Server},
};

#[tokio::test]
async fn every_acknowledged_change_is_there_after_a_crash() {
    let mut server = Server::start().await;
    let admin = server.admin();
    let keys = format!("{}/keys", project(&server));
    let revoked = post(&admin, &keys, &json!({"kind": "secret"}))
        .await
        .expect(201);
    let key = format!("{ADMIN}{keys}/{}", revoked["id"].as_str().unwrap());
    Client::send(admin.request(Method::DELETE, &key))
        .await
        .unwrap();
    let price = json!({"amountCents": 1, "currency": "EUR", "interval": "one_time"});
    post(&admin, &format!("{}/prices", product(&server)), &price)
        .await
        .expect(201);
    patch(&admin, &product(&server), &json!({"name": "Renamed"}))
        .await
        .expect(200);
    let before = get(&admin, &product(&server)).await.expect(200);

    server.crash().await;
    server.start_again().await;
    assert_eq!(
        get(&server.admin(), &product(&server)).await.expect(200),
        before
    );
    assert_eq!(server.client().get("/api/v1/me").await.status, 200);
    let refused = server.instance().client(revoked["key"].as_str().unwrap());
    assert_eq!(refused.get("/api/v1/me").await.code(), "invalid_api_key");

    server.restart().await;
    assert_eq!(
        get(&server.admin(), &product(&server)).await.expect(200),
        before
    );
    assert!(server.terminate().await.success());
    server.verify();
}
