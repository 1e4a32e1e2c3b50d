//! `POST /wallets/{code}/holds` and `POST /wallets/external/holds`

use serde_json::{Value, json};

use crate::service::{Service, assert_invalid, assert_refused, header};

pub(crate) const EXTERNAL: &str = "/api/v1/wallets/external/holds";

pub(crate) fn body(amount: i64, key: &str) -> Value {
    json!({ "externalUserId": "u", "amount": amount, "idempotencyKey": key })
}

pub(crate) async fn place(service: &Service, amount: i64, key: &str) -> String {
    let hold = service
        .secret
        .post(EXTERNAL, &body(amount, key))
        .await
        .expect(200);
    hold["holdId"].as_str().unwrap().to_owned()
}

pub(crate) fn path(hold: &str, verb: &str) -> String {
    format!("/api/v1/holds/{hold}{verb}")
}

#[tokio::test]
async fn held_credits_are_out_of_the_balance() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = service
        .secret
        .post(EXTERNAL, &body(4, "k"))
        .await
        .expect(200);
    let id = hold["holdId"].as_str().unwrap().to_owned();
    assert!(id.starts_with("hold_"), "{id}");
    let expected = json!({
        "holdId": id, "balance": 6, "amount": 4, "expiresAt": "2026-11-18T11:21:40.000Z",
        "status": "open",
    });
    assert_eq!(hold, expected);
    let again = service.secret.post(EXTERNAL, &body(4, "k")).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(again.expect(200), expected);
    let wallet = service
        .secret
        .get("/api/v1/wallets/external?externalUserId=u")
        .await
        .expect(200);
    assert_eq!(
        (
            &wallet["balances"][0]["balance"],
            &wallet["balances"][0]["held"]
        ),
        (&json!(6), &json!(4))
    );
    let expected = json!({
        "holdId": id, "productId": service.product, "amount": 4, "status": "open",
        "settledAmount": 0, "expiresAt": "2026-11-18T11:21:40.000Z",
    });
    assert_eq!(
        service.secret.get(&path(&id, "")).await.expect(200),
        expected
    );
    let other = service.secret.post(EXTERNAL, &body(5, "k")).await;
    assert_refused(&other, 409, "idempotency_key_reused");
    let more = service.secret.post(EXTERNAL, &body(7, "k2")).await;
    assert_refused(&more, 402, "insufficient_credits");
}

#[tokio::test]
async fn ill_shaped_fields_are_named() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    for bad in [json!(0), json!(86_401), json!(1.5), json!("60")] {
        let mut request = body(1, "k2");
        request["expiresInSeconds"] = bad.clone();
        assert_invalid(
            &service.secret.post(EXTERNAL, &request).await,
            "expiresInSeconds",
        );
        let request = json!({ "expiresInSeconds": bad });
        let reply = service.secret.post(&path(&hold, "/extend"), &request).await;
        assert_invalid(&reply, "expiresInSeconds");
    }
    for bad in [json!(-1), json!(1.0), json!(null), json!("1")] {
        let reply = service
            .secret
            .post(&path(&hold, "/settle"), &json!({ "amount": bad }))
            .await;
        assert_invalid(&reply, "amount");
    }
}

#[tokio::test]
async fn a_wallet_has_no_more_open_holds_than_is_configured() {
    let service = Service::with(|config| config.limits.open_holds = 2).await;
    service.grant("u", 10).await;
    let first = place(&service, 1, "a").await;
    place(&service, 1, "b").await;
    for amount in [1, 1000] {
        let refused = service.secret.post(EXTERNAL, &body(amount, "c")).await;
        assert_refused(&refused, 409, "too_many_holds");
    }
    assert_eq!(
        place(&service, 1, "a").await,
        first,
        "a repeat is none more"
    );
    let reused = service.secret.post(EXTERNAL, &body(2, "a")).await;
    assert_refused(&reused, 409, "idempotency_key_reused");
    assert_eq!(service.balance("u").await, 8, "nothing was done");
    service
        .secret
        .post(&path(&first, "/release"), &json!({}))
        .await
        .expect(200);
    place(&service, 1, "c").await;
}
