//! Holds: `POST /wallets/{code}/holds`, `POST /wallets/external/holds` and `/holds/{holdId}`

use domain::catalog::KeyKind;
use serde_json::{Value, json};

use crate::service::{NO_CODE, Service, assert_invalid, assert_refused, header};

const EXTERNAL: &str = "/api/v1/wallets/external/holds";

fn body(amount: i64, key: &str) -> Value {
    json!({ "externalUserId": "u", "amount": amount, "idempotencyKey": key })
}

async fn place(service: &Service, amount: i64, key: &str) -> String {
    let hold = service
        .secret
        .post(EXTERNAL, &body(amount, key))
        .await
        .expect(200);
    hold["holdId"].as_str().unwrap().to_owned()
}

fn path(hold: &str, verb: &str) -> String {
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
async fn settling_takes_the_cost_and_returns_the_rest() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let settle = |amount: i64| {
        let path = path(&hold, "/settle");
        let secret = service.secret.clone();
        async move { secret.post(&path, &json!({ "amount": amount })).await }
    };
    assert_refused(&settle(11).await, 402, "insufficient_credits");
    assert_eq!(
        settle(3).await.expect(200),
        json!({ "balance": 7, "deducted": true })
    );
    let again = settle(3).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(
        again.expect(200),
        json!({ "balance": 7, "deducted": false })
    );
    assert_refused(&settle(2).await, 409, "hold_closed");
    let release = service
        .secret
        .post(&path(&hold, "/release"), &Value::Null)
        .await;
    assert_refused(&release, 409, "hold_closed");
    let extend = json!({ "expiresInSeconds": 60 });
    let extend = service.secret.post(&path(&hold, "/extend"), &extend).await;
    assert_refused(&extend, 409, "hold_closed");
    let read = service.secret.get(&path(&hold, "")).await.expect(200);
    assert_eq!(
        (&read["status"], &read["settledAmount"]),
        (&json!("settled"), &json!(3))
    );
}

#[tokio::test]
async fn settling_nothing_deducts_nothing() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let settled = service
        .secret
        .post(&path(&hold, "/settle"), &json!({ "amount": 0 }))
        .await;
    assert_eq!(
        settled.expect(200),
        json!({ "balance": 10, "deducted": false })
    );
}

#[tokio::test]
async fn a_released_hold_gives_everything_back() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let released = service
        .secret
        .post(&path(&hold, "/release"), &Value::Null)
        .await;
    assert_eq!(released.expect(200), json!({ "balance": 10 }));
    let again = service
        .secret
        .post(&path(&hold, "/release"), &Value::Null)
        .await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    again.expect(200);
}

#[tokio::test]
async fn a_hold_expires_by_itself_unless_it_is_extended() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    service.clock.advance_millis(600_000);
    let extend = json!({ "expiresInSeconds": 900 });
    let extended = service
        .secret
        .post(&path(&hold, "/extend"), &extend)
        .await
        .expect(200);
    assert_eq!(extended["expiresAt"], "2026-11-18T11:31:40.000Z");
    service.clock.advance_millis(899_000);
    assert_eq!(service.balance("u").await, 6);
    service.clock.advance_millis(1000);
    assert_eq!(service.balance("u").await, 10);
    let late = service
        .secret
        .post(&path(&hold, "/settle"), &json!({ "amount": 1 }))
        .await;
    assert_refused(&late, 409, "hold_closed");
    assert_eq!(
        service.secret.get(&path(&hold, "")).await.expect(200)["status"],
        "expired"
    );
}

#[tokio::test]
async fn a_publishable_key_reaches_the_holds_of_code_wallets_only() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let external = place(&service, 4, "k").await;
    for verb in ["/release", "/settle", "/extend"] {
        let body = json!({ "amount": 1, "expiresInSeconds": 1 });
        let reply = service
            .publishable
            .post(&path(&external, verb), &body)
            .await;
        assert_refused(&reply, 403, "secret_key_required");
    }
    assert_refused(
        &service.publishable.get(&path(&external, "")).await,
        403,
        "secret_key_required",
    );

    let code = service.code().await;
    service.grant_code(&code, 5).await;
    let request = json!({ "amount": 5, "idempotencyKey": "k", "expiresInSeconds": 60 });
    let place = format!("/api/v1/wallets/{code}/holds");
    let hold = service.publishable.post(&place, &request).await.expect(200);
    let hold = hold["holdId"].as_str().unwrap();
    service.publishable.get(&path(hold, "")).await.expect(200);
    let settle = service
        .publishable
        .post(&path(hold, "/settle"), &json!({ "amount": 5 }))
        .await;
    assert_eq!(
        settle.expect(200),
        json!({ "balance": 0, "deducted": true })
    );
}

#[tokio::test]
async fn unknown_holds_and_wallets_are_not_found() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let stranger = service.stranger(KeyKind::Secret).await;
    assert_refused(&stranger.get(&path(&hold, "")).await, 404, "hold_not_found");
    for id in ["hold_x", "x", "%00", &"hold_0".repeat(9)] {
        assert_refused(
            &service.secret.get(&path(id, "")).await,
            404,
            "hold_not_found",
        );
    }
    let request = json!({ "amount": 5, "idempotencyKey": "k" });
    let reply = service
        .publishable
        .post(&format!("/api/v1/wallets/{NO_CODE}/holds"), &request)
        .await;
    assert_refused(&reply, 404, "wallet_not_found");
    let mut nobody = body(1, "k");
    nobody["externalUserId"] = json!("nobody");
    assert_refused(
        &service.secret.post(EXTERNAL, &nobody).await,
        404,
        "wallet_not_found",
    );
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
