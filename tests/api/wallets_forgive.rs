//! Forgiving debts: `POST /wallets/external/forgive`.

use serde_json::{Value, json};

use crate::service::{Service, assert_invalid, assert_refused, header, lines};

const PATH: &str = "/api/v1/wallets/external/forgive";

fn forgive(service: &Service, amount: Option<i64>, key: &str) -> Value {
    let mut body = json!({
        "externalUserId": "u", "productId": service.product, "idempotencyKey": key,
        "note": "an \"outage\" of ours",
    });
    if let Some(amount) = amount {
        body["amount"] = json!(amount);
    }
    body
}

/// A user who owes 60 credits of a limit of 100.
async fn owing() -> Service {
    let service = Service::start().await;
    service.trust(100).await;
    service.grant("u", 40).await;
    let deduct = json!({
        "externalUserId": "u", "amount": 100, "idempotencyKey": "d", "onShortfall": "owe",
    });
    let owed = service
        .secret
        .post("/api/v1/wallets/external/deduct", &deduct)
        .await;
    assert_eq!(owed.expect(200)["owed"], 60);
    service
}

#[tokio::test]
async fn a_debt_is_forgiven_once_per_key_and_never_becomes_a_credit() {
    let service = owing().await;
    let part = forgive(&service, Some(20), "f1");
    let answer = service.secret.post(PATH, &part).await.expect(200);
    let expected = json!({ "balance": 0, "owed": 40, "forgiven": true, "amount": 20 });
    assert_eq!(answer, expected);
    let again = service.secret.post(PATH, &part).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    let expected = json!({ "balance": 0, "owed": 40, "forgiven": false, "amount": 20 });
    assert_eq!(again.expect(200), expected);
    for other in [Some(21), None] {
        let reused = service
            .secret
            .post(PATH, &forgive(&service, other, "f1"))
            .await;
        assert_refused(&reused, 409, "idempotency_key_reused");
    }
    let rest = service
        .secret
        .post(PATH, &forgive(&service, None, "f2"))
        .await;
    let expected = json!({ "balance": 0, "owed": 0, "forgiven": true, "amount": 40 });
    assert_eq!(rest.expect(200), expected);
    let nothing = service
        .secret
        .post(PATH, &forgive(&service, Some(5), "f3"))
        .await;
    assert_eq!(header(&nothing, "idempotency-replayed"), None);
    let expected = json!({ "balance": 0, "owed": 0, "forgiven": false, "amount": 0 });
    assert_eq!(nothing.expect(200), expected);
    let expected = lines(&[
        (40, "manual"),
        (-100, "deduction"),
        (20, "forgiveness"),
        (40, "forgiveness"),
    ]);
    assert_eq!(service.ledger("u").await, expected);
    let path = "/api/v1/wallets/external/ledger?externalUserId=u&reason=forgiveness";
    let page = service.secret.get(path).await.expect(200);
    let entry = &page["entries"][1];
    assert_eq!(entry["meta"], json!({ "note": "an \"outage\" of ours" }));
    assert_eq!(
        (&entry["balanceAfter"], &entry["idempotencyKey"]),
        (&json!(-40), &json!("f1"))
    );
}

#[tokio::test]
async fn a_debts_begin_and_end_are_sent_as_events() {
    let service = owing().await;
    service
        .secret
        .post(PATH, &forgive(&service, Some(20), "f1"))
        .await
        .expect(200);
    service.grant("u", 50).await;
    let path = "/api/v1/events?types=wallet.owing,wallet.repaid";
    let page = service.secret.get(path).await.expect(200);
    let events: Vec<_> = page["events"].as_array().unwrap().iter().collect();
    assert_eq!(events.len(), 2, "{page}");
    assert_eq!(events[0]["type"], "wallet.owing");
    assert_eq!(
        events[0]["data"],
        json!({
            "walletId": events[0]["data"]["walletId"], "externalUserId": "u",
            "productId": service.product, "balance": 0, "owed": 60,
        })
    );
    assert_eq!(events[1]["type"], "wallet.repaid");
    assert_eq!(
        (&events[1]["data"]["balance"], &events[1]["data"]["owed"]),
        (&json!(10), &json!(0))
    );
    assert_eq!(service.position("u").await, [10, 0, 0]);
}

#[tokio::test]
async fn who_may_forgive_and_malformed_requests() {
    let service = owing().await;
    let body = forgive(&service, None, "f");
    assert_refused(
        &service.publishable.post(PATH, &body).await,
        403,
        "secret_key_required",
    );
    for (name, bad) in [
        ("amount", json!(0)),
        ("note", json!(" ")),
        ("note", json!("x".repeat(501))),
        ("note", Value::Null),
        ("productId", Value::Null),
        ("idempotencyKey", json!("")),
        ("externalUserId", json!("")),
    ] {
        let mut body = body.clone();
        body[name] = bad;
        assert_invalid(&service.secret.post(PATH, &body).await, name);
    }
    let mut unknown = body.clone();
    unknown["externalUserId"] = json!("nobody");
    assert_refused(
        &service.secret.post(PATH, &unknown).await,
        404,
        "wallet_not_found",
    );
    let mut unknown = body;
    unknown["productId"] = json!("prod_x");
    assert_refused(
        &service.secret.post(PATH, &unknown).await,
        404,
        "product_not_found",
    );
    assert_eq!(service.position("u").await, [0, 0, 60]);
}
