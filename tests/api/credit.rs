//! `POST /credit`: grants by hand.

use domain::catalog::ProductType;
use scrip::catalog::NewProduct;
use serde_json::{Value, json};

use crate::service::{NO_CODE, Service, assert_invalid, assert_refused, header};

const PATH: &str = "/api/v1/credit";

fn body(service: &Service, amount: i64, key: &str) -> Value {
    json!({
        "externalUserId": "u", "productId": service.product, "amount": amount,
        "idempotencyKey": key,
    })
}

#[tokio::test]
async fn a_grant_is_applied_once_and_makes_the_wallet() {
    let service = Service::start().await;
    let first = service
        .secret
        .post(PATH, &body(&service, 10, "k"))
        .await
        .expect(200);
    assert_eq!(first, json!({ "balance": 10, "credited": true }));
    let again = service.secret.post(PATH, &body(&service, 10, "k")).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(
        again.expect(200),
        json!({ "balance": 10, "credited": false })
    );
    let other = service.secret.post(PATH, &body(&service, 11, "k")).await;
    assert_refused(&other, 409, "idempotency_key_reused");
}

#[tokio::test]
async fn the_wallet_is_named_exactly_once() {
    let service = Service::start().await;
    let mut both = body(&service, 1, "k");
    both["code"] = json!(NO_CODE);
    let mut neither = body(&service, 1, "k");
    neither["externalUserId"] = Value::Null;
    for request in [both, neither] {
        assert_refused(
            &service.secret.post(PATH, &request).await,
            400,
            "conflicting_wallet",
        );
    }
}

#[tokio::test]
async fn an_unknown_code_gets_no_wallet() {
    let service = Service::start().await;
    for code in [NO_CODE, "nonsense"] {
        let request = json!({
            "code": code, "productId": service.product, "amount": 1, "idempotencyKey": "k",
        });
        assert_refused(
            &service.secret.post(PATH, &request).await,
            404,
            "wallet_not_found",
        );
    }
}

#[tokio::test]
async fn credits_expire_at_their_instant() {
    let service = Service::start().await;
    let mut request = body(&service, 10, "k");
    request["expiresAt"] = json!("2026-11-18T11:06:50Z");
    service.secret.post(PATH, &request).await.expect(200);
    let read = || {
        service
            .secret
            .get("/api/v1/wallets/external?externalUserId=u")
    };
    let wallet = read().await.expect(200);
    let expected = json!({ "amount": 10, "at": "2026-11-18T11:06:50.000Z" });
    assert_eq!(wallet["balances"][0]["nextExpiry"], expected);
    service.clock.advance_millis(10_000);
    assert_eq!(read().await.expect(200)["balances"][0]["balance"], 0);
    let again = service.secret.post(PATH, &request).await;
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(again.expect(200), json!({"balance": 0, "credited": false}));
    for bad in ["2026-11-18T11:06:50Z", "tomorrow", "2030-01-01"] {
        let mut request = body(&service, 1, "k2");
        request["expiresAt"] = json!(bad);
        assert_invalid(&service.secret.post(PATH, &request).await, "expiresAt");
    }
}

#[tokio::test]
async fn only_products_that_hold_credits_can_be_filled() {
    let service = Service::start().await;
    let mut request = body(&service, 1, "k");
    request["productId"] = json!("prod_x");
    assert_refused(
        &service.secret.post(PATH, &request).await,
        404,
        "product_not_found",
    );
    let new = NewProduct {
        name: "Unlock".into(),
        kind: ProductType::OneTime,
        description: None,
        credit_unit: None,
        free_grant: None,
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
        active: true,
    };
    let unlock = service
        .catalog
        .create_product(service.project.id, new)
        .await
        .unwrap();
    request["productId"] = json!(unlock.id.to_string());
    assert_invalid(&service.secret.post(PATH, &request).await, "productId");
}

#[tokio::test]
async fn no_balance_passes_two_to_the_53() {
    let service = Service::start().await;
    let most = 9_007_199_254_740_991;
    service
        .secret
        .post(PATH, &body(&service, most, "k"))
        .await
        .expect(200);
    assert_refused(
        &service.secret.post(PATH, &body(&service, 1, "k2")).await,
        409,
        "balance_limit",
    );
    assert_eq!(service.balance("u").await, most);
}

#[tokio::test]
async fn grants_that_expire_at_a_thousand_different_times_are_enough() {
    let service = Service::start().await;
    let at = |second: u32, key: &str| {
        let mut request = body(&service, 1, key);
        let (minute, second) = (second / 60, second % 60);
        request["expiresAt"] = json!(format!("2027-01-01T00:{minute:02}:{second:02}Z"));
        request
    };
    for second in 0..1000 {
        let request = at(second, &format!("k{second}"));
        service.secret.post(PATH, &request).await.expect(200);
    }
    let refused = service.secret.post(PATH, &at(1000, "more")).await;
    assert_refused(&refused, 409, "too_many_lots");
    assert_eq!(service.balance("u").await, 1000, "nothing was done");
    let shared = service.secret.post(PATH, &at(999, "more")).await;
    assert_eq!(shared.expect(200)["balance"], 1001, "they share a lot");
}
