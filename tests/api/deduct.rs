//! `POST /wallets/{code}/deduct`: deductions by code.

use serde_json::{Value, json};

use crate::{
    client::Client,
    service::{NO_CODE, Service, assert_invalid, assert_refused, header},
};

fn body(service: &Service, amount: i64, key: &str) -> Value {
    json!({ "productId": service.product, "amount": amount, "idempotencyKey": key })
}

#[tokio::test]
async fn credits_are_used_up_once_for_a_key() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let path = format!("/api/v1/wallets/{code}/deduct");
    let first = service
        .publishable
        .post(&path, &body(&service, 4, "k"))
        .await;
    assert_eq!(header(&first, "idempotency-replayed"), None);
    assert_eq!(first.expect(200), json!({ "balance": 6, "deducted": true }));
    let again = service
        .publishable
        .post(&path, &body(&service, 4, "k"))
        .await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(
        again.expect(200),
        json!({ "balance": 6, "deducted": false })
    );
    let other = service
        .publishable
        .post(&path, &body(&service, 5, "k"))
        .await;
    assert_refused(&other, 409, "idempotency_key_reused");
}

#[tokio::test]
async fn without_the_credits_nothing_is_taken_and_the_key_stays_free() {
    let service = Service::start().await;
    let small = service.add_price(10).await;
    let large = service.add_price(100).await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let path = format!("/api/v1/wallets/{code}/deduct");
    let reply = service
        .publishable
        .post(&path, &body(&service, 30, "k"))
        .await;
    assert_refused(&reply, 402, "insufficient_credits");
    let figures = ["balance", "requested", "shortfall"].map(|name| reply.body[name].as_i64());
    assert_eq!(figures, [Some(10), Some(30), Some(20)]);
    assert_eq!(reply.body["productId"], service.product);
    let prices: Vec<_> = reply.body["prices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|price| &price["id"])
        .collect();
    assert_eq!(prices, [&json!(large)], "{small} does not cover it");
    let answer = service
        .publishable
        .post(&path, &body(&service, 10, "k"))
        .await
        .expect(200);
    assert_eq!(answer, json!({ "balance": 0, "deducted": true }));
}

#[tokio::test]
async fn the_product_has_to_be_named_and_known() {
    let service = Service::start().await;
    let code = service.code().await;
    let path = format!("/api/v1/wallets/{code}/deduct");
    let mut request = body(&service, 1, "k");
    request["productId"] = Value::Null;
    assert_invalid(
        &service.publishable.post(&path, &request).await,
        "productId",
    );
    for unknown in ["prod_x", "prod_00000000000000000000000000"] {
        request["productId"] = json!(unknown);
        let reply = service.publishable.post(&path, &request).await;
        assert_refused(&reply, 404, "product_not_found");
    }
}

#[tokio::test]
async fn the_header_replaces_the_key() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let send = |header: &'static str, body: Value| {
        let path = format!("/api/v1/wallets/{code}/deduct");
        let request = service.publishable.request(reqwest::Method::POST, &path);
        Client::send(request.header("Idempotency-Key", header).json(&body))
    };
    let without = json!({ "productId": service.product, "amount": 1 });
    assert_eq!(
        send("h", without).await.unwrap().expect(200)["deducted"],
        true
    );
    assert_eq!(
        send("h", body(&service, 1, "h")).await.unwrap().expect(200)["deducted"],
        false
    );
    assert_invalid(
        &send("other", body(&service, 1, "h")).await.unwrap(),
        "idempotencyKey",
    );
}

#[tokio::test]
async fn a_bad_body_comes_before_an_unknown_wallet() {
    let service = Service::start().await;
    let path = format!("/api/v1/wallets/{NO_CODE}/deduct");
    assert_invalid(
        &service
            .publishable
            .post(&path, &body(&service, 0, "k"))
            .await,
        "amount",
    );
    let reply = service
        .publishable
        .post(&path, &body(&service, 1, "k"))
        .await;
    assert_refused(&reply, 404, "wallet_not_found");
}
