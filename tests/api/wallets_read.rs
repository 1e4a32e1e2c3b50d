//! `GET /wallets/{code}`: one anonymous wallet.

use domain::catalog::KeyKind;
use serde_json::json;

use crate::service::{NO_CODE, Service, assert_refused};

#[tokio::test]
async fn a_code_in_any_case_opens_its_wallet() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 40).await;
    let expected = json!({
        "code": code,
        "balances": [{ "productId": service.product, "balance": 40, "creditUnit": "renders" }],
        "features": [], "subscriptions": [],
    });
    for typed in [code.clone(), code.to_lowercase()] {
        let path = format!("/api/v1/wallets/{typed}");
        assert_eq!(service.publishable.get(&path).await.expect(200), expected);
    }
}

#[tokio::test]
async fn what_opens_nothing_is_not_found() {
    let service = Service::start().await;
    for typed in [NO_CODE, "nonsense", "%00", "%ff", "external2"] {
        let reply = service
            .publishable
            .get(&format!("/api/v1/wallets/{typed}"))
            .await;
        assert_refused(&reply, 404, "wallet_not_found");
    }
}

#[tokio::test]
async fn another_projects_code_opens_nothing() {
    let service = Service::start().await;
    let code = service.code().await;
    let stranger = service.stranger(KeyKind::Publishable).await;
    let reply = stranger.get(&format!("/api/v1/wallets/{code}")).await;
    assert_refused(&reply, 404, "wallet_not_found");
}
