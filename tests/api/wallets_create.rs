//! `POST /wallets`: anonymous wallets.

use domain::catalog::{CreationLimit, Mode};
use scrip::catalog::ProjectChange;
use serde_json::{Value, json};

use crate::service::{Service, assert_refused, header};

const PATH: &str = "/api/v1/wallets";

fn limit(max: u32) -> Option<Option<CreationLimit>> {
    Some(Some(CreationLimit {
        max,
        window_seconds: 60,
    }))
}

#[tokio::test]
async fn a_new_wallet_is_empty_and_has_a_code_of_its_own() {
    let service = Service::start().await;
    let wallet = service
        .publishable
        .post(PATH, &Value::Null)
        .await
        .expect(200);
    let code = wallet["code"].as_str().unwrap();
    assert!(domain::code::RecoveryCode::parse(code).is_some(), "{code}");
    let empty = json!({ "code": code, "balances": [], "features": [], "subscriptions": [] });
    assert_eq!(wallet, empty);
    assert_ne!(service.code().await, code);
}

#[tokio::test]
async fn a_project_of_external_users_has_no_anonymous_wallets() {
    let service = Service::start().await;
    service
        .set(ProjectChange {
            mode: Some(Mode::ExternalUsers),
            ..ProjectChange::default()
        })
        .await;
    let reply = service.publishable.post(PATH, &Value::Null).await;
    assert_refused(&reply, 403, "anonymous_wallets_disabled");
}

#[tokio::test]
async fn new_wallets_are_limited_by_the_project() {
    let service = Service::start().await;
    service
        .set(ProjectChange {
            wallet_creation_limit: limit(2),
            ..ProjectChange::default()
        })
        .await;
    for _ in 0..2 {
        service
            .publishable
            .post(PATH, &Value::Null)
            .await
            .expect(200);
    }
    service.clock.advance_millis(20_000);
    let reply = service.publishable.post(PATH, &Value::Null).await;
    assert_refused(&reply, 429, "wallet_creation_limit");
    assert_eq!(header(&reply, "retry-after"), Some("40"));
    assert_eq!(header(&reply, "ratelimit-limit"), Some("2"));
    assert_eq!(header(&reply, "ratelimit-remaining"), Some("0"));
    assert_eq!(header(&reply, "ratelimit-reset"), Some("40"));
    service.secret.post(PATH, &Value::Null).await.expect(200);
    service.clock.advance_millis(40_000);
    service
        .publishable
        .post(PATH, &Value::Null)
        .await
        .expect(200);
}

#[tokio::test]
async fn new_wallets_are_limited_by_address_unless_the_project_says_otherwise() {
    let trust = |config: &mut scrip::config::Config| {
        config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    };
    let service = Service::with(trust).await;
    let change = ProjectChange {
        wallet_creation_limit_per_ip: limit(1),
        ..ProjectChange::default()
    };
    service.set(change).await;
    let create = |from: &'static str| {
        let request = service.publishable.request(reqwest::Method::POST, PATH);
        crate::client::Client::send(request.header("X-Forwarded-For", from))
    };
    create("203.0.113.1").await.unwrap().expect(200);
    assert_refused(
        &create("203.0.113.1").await.unwrap(),
        429,
        "wallet_creation_limit",
    );
    create("203.0.113.2").await.unwrap().expect(200);
    let change = ProjectChange {
        wallet_creation_limit_per_ip: Some(None),
        ..ProjectChange::default()
    };
    service.set(change).await;
    create("203.0.113.1").await.unwrap().expect(200);
}

#[tokio::test]
async fn wallets_that_strangers_make_for_nothing_stop_no_sale() {
    let shop = crate::sandbox_shop::SandboxShop::open().await;
    let change = ProjectChange {
        wallet_creation_limit: limit(1),
        ..ProjectChange::default()
    };
    shop.service.set(change).await;
    let browser = &shop.service.publishable;
    browser.post(PATH, &Value::Null).await.expect(200);
    let full = browser.post(PATH, &Value::Null).await;
    assert_refused(&full, 429, "wallet_creation_limit");
    let body = json!({"priceId": shop.price});
    browser.post("/api/v1/checkout", &body).await.expect(200);
    let full = browser.post("/api/v1/checkout", &body).await;
    assert_refused(&full, 429, "wallet_creation_limit");
}
