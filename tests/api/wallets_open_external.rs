//! `POST /wallets/external` and `GET /wallets/external`

use domain::catalog::KeyKind;
use serde_json::json;

use crate::service::{Service, assert_invalid, assert_refused};

const PATH: &str = "/api/v1/wallets/external";

#[tokio::test]
async fn a_users_wallet_is_made_once() {
    let service = Service::start().await;
    let body = json!({ "externalUserId": "ü 1" });
    let first = service.secret.post(PATH, &body).await.expect(200);
    assert!(
        first["walletId"].as_str().unwrap().starts_with("wal_"),
        "{first}"
    );
    let id = first["walletId"].clone();
    let empty = json!({
        "walletId": id, "externalUserId": "ü 1", "balances": [], "features": [],
        "subscriptions": [],
    });
    assert_eq!(first, empty);
    assert_eq!(service.secret.post(PATH, &body).await.expect(200), empty);
    let read = service
        .secret
        .get(&format!("{PATH}?externalUserId=%C3%BC%201"))
        .await;
    assert_eq!(read.expect(200), empty);
}

#[tokio::test]
async fn reading_makes_no_wallet() {
    let service = Service::start().await;
    for _ in 0..2 {
        let reply = service
            .secret
            .get(&format!("{PATH}?externalUserId=nobody"))
            .await;
        assert_refused(&reply, 404, "wallet_not_found");
    }
    assert_invalid(&service.secret.get(PATH).await, "externalUserId");
}

#[tokio::test]
async fn user_ids_have_bounds() {
    let service = Service::start().await;
    for bad in [
        json!(""),
        json!("x".repeat(256)),
        json!("a\u{0}b"),
        json!("a\nb"),
        json!(7),
        json!(null),
    ] {
        let reply = service
            .secret
            .post(PATH, &json!({ "externalUserId": bad }))
            .await;
        assert_invalid(&reply, "externalUserId");
    }
    let longest = json!({ "externalUserId": "é".repeat(255) });
    service.secret.post(PATH, &longest).await.expect(200);
}

#[tokio::test]
async fn projects_do_not_share_users() {
    let service = Service::start().await;
    service.grant("u", 5).await;
    let stranger = service.stranger(KeyKind::Secret).await;
    let reply = stranger.get(&format!("{PATH}?externalUserId=u")).await;
    assert_refused(&reply, 404, "wallet_not_found");
}
