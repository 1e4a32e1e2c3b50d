//! `POST /deductions/batch`: many deductions at once.

use serde_json::{Value, json};

use crate::service::{NO_CODE, Service, assert_invalid, assert_refused};

const PATH: &str = "/api/v1/deductions/batch";

fn item(user: &str, amount: i64, key: &str) -> Value {
    json!({ "externalUserId": user, "amount": amount, "idempotencyKey": key })
}

#[tokio::test]
async fn each_item_is_applied_or_refused_on_its_own_in_order() {
    let service = Service::start().await;
    service.grant("a", 10).await;
    service.grant("b", 5).await;
    let code = service.code().await;
    service.grant_code(&code, 3).await;
    let mut unknown_product = item("a", 1, "k9");
    unknown_product["productId"] = json!("prod_x");
    let items = json!({ "items": [
        item("a", 4, "k1"),
        item("b", 6, "k1"),
        item("a", 6, "k2"),
        item("a", 4, "k1"),
        item("a", 1, "k3"),
        item("nobody", 1, "k1"),
        { "code": code, "amount": 3, "idempotencyKey": "k1" },
        { "code": NO_CODE, "amount": 3, "idempotencyKey": "k1" },
        { "code": "nonsense", "amount": 3, "idempotencyKey": "k1" },
        unknown_product,
        item("a", 5, "k1"),
    ] });
    let answer = service.secret.post(PATH, &items).await.expect(200);
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[0], json!({ "balance": 6, "deducted": true }));
    assert_eq!(results[1]["error"]["code"], "insufficient_credits");
    assert_eq!(results[1]["error"]["shortfall"], 1);
    assert_eq!(results[2], json!({ "balance": 0, "deducted": true }));
    assert_eq!(results[3], json!({ "balance": 0, "deducted": false }));
    assert_eq!(results[4]["error"]["code"], "insufficient_credits");
    assert_eq!(results[5]["error"]["code"], "wallet_not_found");
    assert_eq!(results[6], json!({ "balance": 0, "deducted": true }));
    assert_eq!(results[7]["error"]["code"], "wallet_not_found");
    assert_eq!(results[8]["error"]["code"], "wallet_not_found");
    assert_eq!(results[9]["error"]["code"], "product_not_found");
    assert_eq!(results[10]["error"]["code"], "idempotency_key_reused");
    assert_eq!(results.len(), 11);
}

#[tokio::test]
async fn an_ill_shaped_item_refuses_them_all() {
    let service = Service::start().await;
    service.grant("a", 10).await;
    let with = |broken: Value| json!({ "items": [item("a", 1, "k0"), item("a", 1, "k1"), broken] });
    let cases = [
        (
            "items[2].amount",
            json!({ "externalUserId": "a", "amount": 0, "idempotencyKey": "k" }),
        ),
        (
            "items[2].amount",
            json!({ "externalUserId": "a", "idempotencyKey": "k" }),
        ),
        (
            "items[2].idempotencyKey",
            json!({ "externalUserId": "a", "amount": 1 }),
        ),
        (
            "items[2].externalUserId",
            json!({ "amount": 1, "idempotencyKey": "k" }),
        ),
        (
            "items[2].externalUserId",
            json!({ "externalUserId": 7, "amount": 1 }),
        ),
        (
            "items[2].meta",
            json!({ "externalUserId": "a", "amount": 1, "idempotencyKey": "k", "meta": [] }),
        ),
        ("items[2]", json!(7)),
        ("items[2]", json!(["a", 1, "k"])),
    ];
    for (param, broken) in cases {
        assert_invalid(&service.secret.post(PATH, &with(broken)).await, param);
    }
    let both =
        json!({ "externalUserId": "a", "code": NO_CODE, "amount": 1, "idempotencyKey": "k" });
    let reply = service.secret.post(PATH, &with(both)).await;
    assert_refused(&reply, 400, "conflicting_wallet");
    assert_eq!(reply.body["param"], "items[2]");
    assert_eq!(service.balance("a").await, 10);
}

#[tokio::test]
async fn each_item_says_what_to_do_with_a_shortfall() {
    let service = Service::start().await;
    service.trust(10).await;
    for user in ["a", "b", "c"] {
        service.grant(user, 5).await;
    }
    let with = |user: &str, short: &str| {
        let mut item = item(user, 20, "k");
        item["onShortfall"] = json!(short);
        item
    };
    let items = json!({ "items": [
        with("a", "drain"), with("b", "owe"), with("c", "refuse"), with("b", "owe"), item("a", 20, "k"),
    ] });
    let answer = service.secret.post(PATH, &items).await.expect(200);
    let results = answer["results"].as_array().unwrap();
    let met = |deducted: bool, owed: i64| {
        json!({
            "balance": 0, "deducted": deducted, "charged": 5, "owed": owed, "uncovered": 15 - owed,
        })
    };
    assert_eq!(results[0], met(true, 0));
    assert_eq!(results[1], met(true, 10));
    assert_eq!(results[2]["error"]["code"], "insufficient_credits");
    assert_eq!(results[3], met(false, 10), "a repeat is met as it was");
    assert_eq!(
        results[4],
        met(false, 0),
        "and says what was not covered, asked or not"
    );
    let bad = json!({ "items": [with("a", "later")] });
    assert_invalid(
        &service.secret.post(PATH, &bad).await,
        "items[0].onShortfall",
    );
}
