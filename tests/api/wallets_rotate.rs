//! `POST /wallets/{code}/rotate`

use serde_json::Value;

use crate::service::{NO_CODE, Service, assert_refused};

#[tokio::test]
async fn the_new_code_opens_the_wallet_and_the_old_one_nothing() {
    let service = Service::start().await;
    let old = service.code().await;
    service.grant_code(&old, 5).await;
    let path = format!("/api/v1/wallets/{old}/rotate");
    let rotated = service
        .publishable
        .post(&path, &Value::Null)
        .await
        .expect(200);
    let new = rotated["code"].as_str().unwrap();
    assert_ne!(new, old);
    let wallet = service
        .publishable
        .get(&format!("/api/v1/wallets/{new}"))
        .await
        .expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 5);
    let reply = service
        .publishable
        .get(&format!("/api/v1/wallets/{old}"))
        .await;
    assert_refused(&reply, 404, "wallet_not_found");
}

#[tokio::test]
async fn a_code_that_opens_nothing_cannot_be_replaced() {
    let service = Service::start().await;
    let path = format!("/api/v1/wallets/{NO_CODE}/rotate");
    assert_refused(
        &service.publishable.post(&path, &Value::Null).await,
        404,
        "wallet_not_found",
    );
}
