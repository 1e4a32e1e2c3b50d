//! `POST /sessions/revoke`: ends all sessions of a wallet at once.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Client,
    service::{NO_CODE, Service, assert_refused},
};

const REVOKE: &str = "/api/v1/sessions/revoke";

#[tokio::test]
async fn all_sessions_of_the_wallet_end_and_no_others() {
    let service = Service::start().await;
    let ann = json!({"externalUserId": "ann"});
    let sessions = [
        service.session(ann.clone()).await,
        service.session(ann.clone()).await,
    ];
    let bob = service.session(json!({"externalUserId": "bob"})).await;
    let reply = service.secret.post(REVOKE, &ann).await.expect(200);
    assert_eq!(reply, json!({"revoked": true}));
    for session in &sessions {
        for path in ["/api/v1/me", "/api/v1/products", "/api/v1/wallets/external"] {
            assert_refused(&session.get(path).await, 401, "session_expired");
        }
    }
    bob.get("/api/v1/me").await.expect(200);
    let next = service.session(ann.clone()).await;
    next.get("/api/v1/wallets/external").await.expect(200);
    service.secret.post(REVOKE, &ann).await.expect(200);
    assert_refused(&next.get("/api/v1/me").await, 401, "session_expired");
    assert_refused(&sessions[0].get("/api/v1/me").await, 401, "session_expired");
}

#[tokio::test]
async fn a_session_of_a_code_ends_when_the_code_is_replaced() {
    let service = Service::start().await;
    let code = service.code().await;
    let session = service.session(json!({"code": code})).await;
    let path = format!("/api/v1/wallets/{code}/rotate");
    let rotated = service
        .publishable
        .post(&path, &Value::Null)
        .await
        .expect(200);
    for path in ["/api/v1/me", "/api/v1/wallets/code"] {
        assert_refused(&session.get(path).await, 401, "session_expired");
    }
    let next = service.session(json!({"code": rotated["code"]})).await;
    let reply = next.get("/api/v1/wallets/code").await.expect(200);
    assert_eq!(reply["code"], "code", "a session is shown no code");
    let body = json!({"code": rotated["code"]});
    service.secret.post(REVOKE, &body).await.expect(200);
    assert_refused(&next.get("/api/v1/me").await, 401, "session_expired");
}

#[tokio::test]
async fn only_a_secret_key_revokes_and_only_what_there_is() {
    let service = Service::start().await;
    let ann = json!({"externalUserId": "ann"});
    let revoke = async |client: &Client, body: &Value| client.post(REVOKE, body).await;
    assert_refused(
        &revoke(&service.secret, &ann).await,
        404,
        "wallet_not_found",
    );
    let session = service.session(ann.clone()).await;
    assert_refused(
        &revoke(&service.publishable, &ann).await,
        403,
        "secret_key_required",
    );
    assert_refused(&revoke(&session, &ann).await, 403, "session_forbidden");
    for body in [json!({"code": NO_CODE}), json!({"code": "no code"})] {
        assert_refused(
            &revoke(&service.secret, &body).await,
            404,
            "wallet_not_found",
        );
    }
    let both = json!({"code": NO_CODE, "externalUserId": "ann"});
    for body in [both, json!({})] {
        assert_refused(
            &revoke(&service.secret, &body).await,
            400,
            "conflicting_wallet",
        );
    }
    session.get("/api/v1/me").await.expect(200);
    let wrong = Client::send(session.request(Method::GET, REVOKE))
        .await
        .unwrap();
    assert_refused(&wrong, 405, "method_not_allowed");
}

#[tokio::test]
async fn a_revocation_is_answered_once_it_is_durable() {
    let service = Service::start().await;
    let ann = json!({"externalUserId": "ann"});
    let session = service.session(ann.clone()).await;
    service.journal.hold();
    let revoke = service.secret.clone();
    let revoking = tokio::spawn(async move { revoke.post(REVOKE, &ann).await });
    // The wallet knows of it as soon as the journal has taken it in.
    let reader = session.clone();
    let reading = tokio::spawn(async move { reader.get("/api/v1/me").await });
    kit::deadline::until("the append", kit::deadline::SOON, || {
        (service.handle.stats().in_flight >= 1).then_some(())
    })
    .await;
    assert!(!revoking.is_finished());
    service.journal.release();
    revoking.await.unwrap().expect(200);
    let read = reading.await.unwrap();
    assert!(
        matches!(read.status, 200 | 401),
        "before or after: {}",
        read.body
    );
    assert_refused(&session.get("/api/v1/me").await, 401, "session_expired");
}
