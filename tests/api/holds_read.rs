//! `GET /holds/{holdId}`, and who reaches which holds.

use domain::catalog::KeyKind;
use serde_json::json;

use crate::{
    holds_create::{EXTERNAL, body, path, place},
    service::{NO_CODE, Service, assert_refused},
};

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
