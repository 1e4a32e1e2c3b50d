//! One-time unlocks are not sold twice to a wallet.

use domain::catalog::Interval;
use scrip::catalog::NewPrice;
use serde_json::{Value, json};

use crate::{
    client::Reply, sandbox_shop::SandboxShop, service::assert_refused, stripe_shop::monthly_tier,
};

/// Adds a price without credits; returns its id.
async fn price(shop: &SandboxShop, features: &[&str], repeatable: bool) -> String {
    let new = NewPrice {
        features: features.iter().map(|&slug| slug.into()).collect(),
        interval: Interval::OneTime,
        repeatable,
        ..monthly_tier()
    };
    let service = &shop.service;
    let product = service.product.parse().unwrap();
    let price = service
        .catalog
        .create_price(service.project.id, product, new);
    price.await.unwrap().id.to_string()
}

async fn buy(shop: &SandboxShop, user: &str, price: &str) -> Reply {
    let body = json!({"externalUserId": user, "priceId": price});
    shop.service.secret.post("/api/v1/checkout", &body).await
}

async fn status(shop: &SandboxShop, checkout: &Value) -> String {
    shop.order(checkout).await["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn an_unlock_is_sold_to_a_wallet_once_unless_it_is_repeatable() {
    let shop = SandboxShop::open().await;
    let pdf = price(&shop, &["pdf"], false).await;
    let again = price(&shop, &["pdf"], true).await;
    let checkout = buy(&shop, "ann", &pdf).await.expect(200);
    shop.press(&checkout, "pay").await;
    assert_refused(&buy(&shop, "ann", &pdf).await, 409, "already_owned");
    buy(&shop, "ann", &again).await.expect(200);
    buy(&shop, "bea", &pdf).await.expect(200);
    let more = price(&shop, &["pdf", "hd"], false).await;
    buy(&shop, "ann", &more).await.expect(200);
    // By a code as well; after a refund it can be bought again.
    let code = shop.service.code().await;
    let by_code = json!({"code": code, "priceId": pdf});
    let browser = &shop.service.publishable;
    let checkout = browser.post("/api/v1/checkout", &by_code).await.expect(200);
    shop.press(&checkout, "pay").await;
    let refused = browser.post("/api/v1/checkout", &by_code).await;
    assert_refused(&refused, 409, "already_owned");
    let path = format!(
        "/api/v1/orders/{}/refund",
        checkout["orderId"].as_str().unwrap()
    );
    let refund = json!({"idempotencyKey": "k"});
    shop.service.secret.post(&path, &refund).await.expect(200);
    browser.post("/api/v1/checkout", &by_code).await.expect(200);
}

#[tokio::test]
async fn an_unlock_whose_money_is_on_its_way_is_not_sold_again() {
    let shop = SandboxShop::open().await;
    let pdf = price(&shop, &["pdf"], false).await;
    let checkout = buy(&shop, "ann", &pdf).await.expect(200);
    shop.press(&checkout, "pay_later").await;
    assert_refused(&buy(&shop, "ann", &pdf).await, 409, "already_owned");
    shop.press(&checkout, "fail").await;
    buy(&shop, "ann", &pdf).await.expect(200);
}

#[tokio::test]
async fn a_second_one_that_is_paid_through_a_race_is_fulfilled() {
    let shop = SandboxShop::open().await;
    let pdf = price(&shop, &["pdf"], false).await;
    let one = buy(&shop, "ann", &pdf).await.expect(200);
    let other = buy(&shop, "ann", &pdf).await.expect(200);
    for checkout in [&one, &other] {
        shop.press(checkout, "pay").await;
        assert_eq!(status(&shop, checkout).await, "paid");
    }
    // Nothing is lost: both can be refunded.
    let refund = json!({"idempotencyKey": "k"});
    let path = format!("/api/v1/orders/{}/refund", one["orderId"].as_str().unwrap());
    shop.service.secret.post(&path, &refund).await.expect(200);
    assert_eq!(shop.wallet("ann").await["features"], json!(["pdf"]));
    assert_eq!(status(&shop, &other).await, "paid");
}
