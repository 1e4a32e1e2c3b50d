//! Limits of debt: `POST /wallets/external/debt-limit`.

use serde_json::{Value, json};

use crate::service::{Service, assert_invalid, assert_refused};

const PATH: &str = "/api/v1/wallets/external/debt-limit";

fn limit(service: &Service, debt_limit: Value) -> Value {
    json!({ "externalUserId": "u", "productId": service.product, "debtLimit": debt_limit })
}

async fn owe(service: &Service, amount: i64, key: &str) -> [i64; 3] {
    let deduct = json!({
        "externalUserId": "u", "amount": amount, "idempotencyKey": key, "onShortfall": "owe",
    });
    let path = "/api/v1/wallets/external/deduct";
    let answer = service.secret.post(path, &deduct).await.expect(200);
    ["charged", "owed", "uncovered"].map(|name| answer[name].as_i64().unwrap())
}

#[tokio::test]
async fn a_wallets_own_limit_goes_before_its_products() {
    let service = Service::start().await;
    service.trust(10).await;
    let own = service.secret.post(PATH, &limit(&service, json!(50))).await;
    let expected = json!({ "balance": 0, "owed": 0, "debtLimit": 50, "creditAvailable": 50 });
    assert_eq!(own.expect(200), expected, "it makes the wallet");
    assert_eq!(owe(&service, 60, "d1").await, [0, 50, 10]);
    let lower = service.secret.post(PATH, &limit(&service, json!(20))).await;
    let expected = json!({ "balance": 0, "owed": 50, "debtLimit": 20, "creditAvailable": 0 });
    assert_eq!(lower.expect(200), expected, "a debt stays");
    service.grant("u", 45).await;
    let general = service
        .secret
        .post(PATH, &limit(&service, Value::Null))
        .await;
    let expected = json!({ "balance": 0, "owed": 5, "debtLimit": 10, "creditAvailable": 5 });
    assert_eq!(general.expect(200), expected);
    let again = service
        .secret
        .post(PATH, &limit(&service, Value::Null))
        .await;
    assert_eq!(again.expect(200), expected);
    assert_eq!(owe(&service, 60, "d2").await, [0, 5, 55]);
}

#[tokio::test]
async fn without_a_limit_nothing_is_owed() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    assert_eq!(owe(&service, 60, "d").await, [10, 0, 50]);
    assert_eq!(service.position("u").await, [0, 0, 0]);
}

#[tokio::test]
async fn grants_pay_a_debt_first_and_usage_counts_them_whole() {
    let service = Service::start().await;
    service.trust(100).await;
    service.grant("u", 10).await;
    assert_eq!(owe(&service, 90, "d").await, [10, 80, 0]);
    service.grant("u", 30).await;
    assert_eq!(service.position("u").await, [0, 0, 50]);
    service.grant("u", 70).await;
    assert_eq!(service.position("u").await, [20, 0, 0]);
    let path = "/api/v1/usage?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z&interval=month";
    let usage = service
        .secret
        .get(&format!("{path}&productId={}", service.product))
        .await;
    let bucket = &usage.expect(200)["buckets"][0];
    assert_eq!(
        (&bucket["granted"], &bucket["deducted"]),
        (&json!(110), &json!(90))
    );
}

#[tokio::test]
async fn who_may_set_it_and_malformed_requests() {
    let service = Service::start().await;
    let body = limit(&service, json!(1));
    assert_refused(
        &service.publishable.post(PATH, &body).await,
        403,
        "secret_key_required",
    );
    for bad in [json!(-1), json!(1.5), json!("1")] {
        let refused = service.secret.post(PATH, &limit(&service, bad)).await;
        assert_invalid(&refused, "debtLimit");
    }
    let mut missing = body.clone();
    missing.as_object_mut().unwrap().remove("debtLimit");
    assert_invalid(&service.secret.post(PATH, &missing).await, "debtLimit");
    let nobody = service
        .secret
        .post(PATH, &limit(&service, Value::Null))
        .await;
    assert_refused(&nobody, 404, "wallet_not_found");
    let mut unknown = body;
    unknown["productId"] = json!("prod_x");
    assert_refused(
        &service.secret.post(PATH, &unknown).await,
        404,
        "product_not_found",
    );
}
