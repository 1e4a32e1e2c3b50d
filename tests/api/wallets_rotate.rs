//! `POST /wallets/{code}/rotate`: new codes for leaked ones.

use reqwest::Method;
use serde_json::{Value, json};

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

#[tokio::test]
async fn a_rotation_under_a_key_is_answered_again() {
    let service = Service::start().await;
    let old = service.code().await;
    let path = format!("/api/v1/wallets/{old}/rotate");
    let body = json!({ "idempotencyKey": "k" });
    let first = service.publishable.post(&path, &body).await.expect(200);
    let again = service.publishable.post(&path, &body).await.expect(200);
    assert_eq!(first["code"], again["code"]);
    let header = service.publishable.request(Method::POST, &path);
    let header = header.header("Idempotency-Key", "k").send().await.unwrap();
    assert_eq!(header.headers()["idempotency-replayed"], "true");
    let header: Value = header.json().await.unwrap();
    assert_eq!(first["code"], header["code"]);
    let server = service.secret.post(&path, &body).await;
    assert_refused(&server, 404, "wallet_not_found");
    let other = json!({ "idempotencyKey": "another" });
    assert_refused(
        &service.publishable.post(&path, &other).await,
        404,
        "wallet_not_found",
    );
}

#[tokio::test]
async fn holds_of_a_publishable_key_are_released_and_those_of_a_server_are_not() {
    let service = Service::start().await;
    let old = service.code().await;
    service.grant_code(&old, 10).await;
    let path = format!("/api/v1/wallets/{old}/holds");
    let mut holds = Vec::new();
    for (client, amount) in [(&service.publishable, 3), (&service.secret, 4)] {
        let body = json!({ "productId": service.product, "amount": amount,
            "idempotencyKey": format!("hold {amount}") });
        let hold = client.post(&path, &body).await.expect(200);
        holds.push(hold["holdId"].as_str().unwrap().to_owned());
    }
    let path = format!("/api/v1/wallets/{old}/rotate");
    let rotated = service.secret.post(&path, &Value::Null).await.expect(200);
    let new = rotated["code"].as_str().unwrap();
    let path = format!("/api/v1/wallets/{new}");
    let wallet = service.publishable.get(&path).await.expect(200);
    let (balance, held) = (
        &wallet["balances"][0]["balance"],
        &wallet["balances"][0]["held"],
    );
    assert_eq!((balance, held), (&json!(6), &json!(4)));
    let status = async |hold: &str| {
        let path = format!("/api/v1/holds/{hold}");
        service.secret.get(&path).await.expect(200)["status"].clone()
    };
    assert_eq!(status(&holds[0]).await, "released");
    assert_eq!(status(&holds[1]).await, "open");
    let settle = json!({ "amount": 3 });
    let path = format!("/api/v1/holds/{}/settle", holds[0]);
    let late = service.publishable.post(&path, &settle).await;
    assert_refused(&late, 409, "hold_closed");
    let drain = json!({ "amount": 3, "onShortfall": "drain" });
    for client in [&service.publishable, &service.secret] {
        let late = client.post(&path, &drain).await;
        assert_refused(&late, 409, "hold_closed");
    }
    let released = format!("/api/v1/holds/{}/release", holds[0]);
    let balance = service.publishable.post(&released, &Value::Null).await;
    assert_refused(&balance, 409, "hold_closed");
    let path = format!("/api/v1/holds/{}/settle", holds[1]);
    let others = service.publishable.post(&path, &drain).await;
    assert_refused(&others, 403, "secret_key_required");
    service.secret.post(&path, &drain).await.expect(200);
}

#[tokio::test]
async fn a_code_that_a_server_replaced_is_not_shown_to_the_holder_of_the_old_one() {
    let service = Service::start().await;
    let old = service.code().await;
    let path = format!("/api/v1/wallets/{old}/rotate");
    let body = json!({ "idempotencyKey": "ticket-1041" });
    let first = service.secret.post(&path, &body).await.expect(200);
    let thief = service.publishable.post(&path, &body).await;
    assert_refused(&thief, 404, "wallet_not_found");
    let again = service.secret.post(&path, &body).await.expect(200);
    assert_eq!(first["code"], again["code"]);
}

#[tokio::test]
async fn a_hold_that_expired_before_the_code_was_replaced_is_never_settled_late() {
    let service = Service::start().await;
    let old = service.code().await;
    service.grant_code(&old, 10).await;
    let path = format!("/api/v1/wallets/{old}/holds");
    let body = json!({ "productId": service.product, "amount": 1, "idempotencyKey": "h", "expiresInSeconds": 1 });
    let hold = service.publishable.post(&path, &body).await.expect(200);
    assert_eq!(hold["status"], "open");
    service.clock.advance_millis(2000);
    let again = service.publishable.post(&path, &body).await.expect(200);
    assert_eq!(
        (&again["holdId"], &again["status"]),
        (&hold["holdId"], &json!("expired"))
    );
    let path = format!("/api/v1/wallets/{old}/rotate");
    let rotated = service
        .publishable
        .post(&path, &Value::Null)
        .await
        .expect(200);
    let path = format!("/api/v1/holds/{}/settle", hold["holdId"].as_str().unwrap());
    let drain = json!({ "amount": 300, "onShortfall": "drain" });
    for client in [&service.publishable, &service.secret] {
        let late = client.post(&path, &drain).await;
        assert_refused(&late, 409, "hold_closed");
    }
    let path = format!("/api/v1/wallets/{}", rotated["code"].as_str().unwrap());
    let wallet = service.publishable.get(&path).await.expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 10);
}
