//! `POST /wallets/external/deduct`: deductions by user id.

use serde_json::{Value, json};

use crate::service::{Service, assert_invalid, assert_refused, header};

const PATH: &str = "/api/v1/wallets/external/deduct";

fn body(amount: i64, key: &str) -> Value {
    json!({ "externalUserId": "u", "amount": amount, "idempotencyKey": key })
}

#[tokio::test]
async fn the_only_product_need_not_be_named() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let reply = service.secret.post(PATH, &body(3, "k")).await.expect(200);
    assert_eq!(reply, json!({ "balance": 7, "deducted": true }));
    let mut named = body(3, "k");
    named["productId"] = json!(service.product);
    let replay = service.secret.post(PATH, &named).await;
    assert_eq!(header(&replay, "idempotency-replayed"), Some("true"));
    assert_eq!(
        replay.expect(200),
        json!({ "balance": 7, "deducted": false })
    );
}

#[tokio::test]
async fn a_second_product_breaks_no_retry_but_has_to_be_named() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    service.secret.post(PATH, &body(3, "k")).await.expect(200);
    service.add_product("Another").await;
    assert_eq!(
        service.secret.post(PATH, &body(3, "k")).await.expect(200)["deducted"],
        false
    );
    assert_refused(
        &service.secret.post(PATH, &body(3, "new")).await,
        400,
        "product_required",
    );
}

#[tokio::test]
async fn a_user_without_a_wallet_is_not_found() {
    let service = Service::start().await;
    assert_refused(
        &service.secret.post(PATH, &body(1, "k")).await,
        404,
        "wallet_not_found",
    );
}

#[tokio::test]
async fn ill_shaped_fields_are_named_and_change_nothing() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let huge = json!(9_007_199_254_740_992_i64);
    let cases = [
        ("amount", json!(0)),
        ("amount", json!(-1)),
        ("amount", json!(1.0)),
        ("amount", json!(1.5)),
        ("amount", json!("1")),
        ("amount", json!(null)),
        ("amount", huge),
        ("externalUserId", json!("")),
        ("externalUserId", json!(["u"])),
        ("productId", json!(7)),
        ("idempotencyKey", json!("")),
        ("idempotencyKey", json!("x".repeat(256))),
        ("idempotencyKey", json!(7)),
        ("meta", json!([])),
        ("meta", json!("text")),
        ("meta", json!({ "a": "x".repeat(4096) })),
    ];
    for (field, value) in cases {
        let mut request = body(1, "k");
        request[field] = value;
        assert_invalid(&service.secret.post(PATH, &request).await, field);
    }
    assert_eq!(service.balance("u").await, 10);
}

#[tokio::test]
async fn a_402_tells_balance_and_request() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let reply = service.secret.post(PATH, &body(11, "k")).await;
    assert_refused(&reply, 402, "insufficient_credits");
    assert_eq!(
        (
            reply.body["balance"].as_i64(),
            reply.body["requested"].as_i64()
        ),
        (Some(10), Some(11))
    );
    assert_eq!(reply.body["prices"], json!([]));
}

#[tokio::test]
async fn past_the_balance_it_drains_and_owes_the_rest_on_request() {
    let service = Service::start().await;
    service.trust(10).await;
    service.grant("u", 5).await;
    let path = "/api/v1/wallets/external/deduct";
    let body = |key: &str, short: &str| json!({ "externalUserId": "u", "amount": 8, "idempotencyKey": key, "onShortfall": short });
    let refused = service.secret.post(path, &body("k", "refuse")).await;
    assert_refused(&refused, 402, "insufficient_credits");
    let owed = service
        .secret
        .post(path, &body("k", "owe"))
        .await
        .expect(200);
    let expected = json!({
        "balance": 0, "deducted": true, "charged": 5, "owed": 3, "uncovered": 0,
    });
    assert_eq!(owed, expected, "a refusal used up no key");
    let again = service
        .secret
        .post(path, &body("k", "owe"))
        .await
        .expect(200);
    assert_eq!(
        (&again["deducted"], &again["owed"]),
        (&json!(false), &json!(3))
    );
    let nothing = service
        .secret
        .post(path, &body("n", "drain"))
        .await
        .expect(200);
    let expected = json!({
        "balance": 0, "deducted": false, "charged": 0, "owed": 0, "uncovered": 8,
    });
    assert_eq!(nothing, expected);
    service.grant("u", 100).await;
    let again = service
        .secret
        .post(path, &body("n", "drain"))
        .await
        .expect(200);
    assert_eq!(
        (&again["balance"], &again["uncovered"]),
        (&json!(97), &json!(8))
    );
    let mut other = body("n", "drain");
    other["amount"] = json!(7);
    let reused = service.secret.post(path, &other).await;
    assert_refused(&reused, 409, "idempotency_key_reused");
}
