//! One-time unlocks are not sold twice to a wallet.

use domain::catalog::Interval;
use scrip::catalog::NewPrice;
use serde_json::{Value, json};

use crate::{client::Reply, fair::Fair, service::assert_refused, shop::Catalog};

/// Adds a price without credits; returns its id.
async fn price(fair: &Fair, features: &[&str], repeatable: bool) -> String {
    let new = NewPrice {
        features: features.iter().map(|&slug| slug.into()).collect(),
        interval: Interval::OneTime,
        repeatable,
        ..Catalog::tier()
    };
    let service = &fair.service;
    let product = service.product.parse().unwrap();
    let made = service
        .catalog
        .create_price(service.project.id, product, new);
    made.await.unwrap().id.to_string()
}

async fn buy(fair: &Fair, user: &str, price: &str) -> Reply {
    let body = json!({"externalUserId": user, "priceId": price});
    fair.service.secret.post("/api/v1/checkout", &body).await
}

async fn status(fair: &Fair, begun: &Value) -> String {
    fair.order(begun).await["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn an_unlock_is_sold_to_a_wallet_once_unless_it_is_repeatable() {
    let fair = Fair::open().await;
    let pdf = price(&fair, &["pdf"], false).await;
    let again = price(&fair, &["pdf"], true).await;
    let begun = buy(&fair, "ann", &pdf).await.expect(200);
    fair.press(&begun, "pay").await;
    assert_refused(&buy(&fair, "ann", &pdf).await, 409, "already_owned");
    buy(&fair, "ann", &again).await.expect(200);
    buy(&fair, "bea", &pdf).await.expect(200);
    let more = price(&fair, &["pdf", "hd"], false).await;
    buy(&fair, "ann", &more).await.expect(200);
    // By a code as well; after a refund it can be bought again.
    let code = fair.service.code().await;
    let by_code = json!({"code": code, "priceId": pdf});
    let browser = &fair.service.publishable;
    let begun = browser.post("/api/v1/checkout", &by_code).await.expect(200);
    fair.press(&begun, "pay").await;
    let refused = browser.post("/api/v1/checkout", &by_code).await;
    assert_refused(&refused, 409, "already_owned");
    let path = format!(
        "/api/v1/orders/{}/refund",
        begun["orderId"].as_str().unwrap()
    );
    let refund = json!({"idempotencyKey": "k"});
    fair.service.secret.post(&path, &refund).await.expect(200);
    browser.post("/api/v1/checkout", &by_code).await.expect(200);
}

#[tokio::test]
async fn an_unlock_whose_money_is_on_its_way_is_not_sold_again() {
    let fair = Fair::open().await;
    let pdf = price(&fair, &["pdf"], false).await;
    let begun = buy(&fair, "ann", &pdf).await.expect(200);
    fair.press(&begun, "pay_later").await;
    assert_refused(&buy(&fair, "ann", &pdf).await, 409, "already_owned");
    fair.press(&begun, "fail").await;
    buy(&fair, "ann", &pdf).await.expect(200);
}

#[tokio::test]
async fn a_second_one_that_is_paid_through_a_race_is_fulfilled() {
    let fair = Fair::open().await;
    let pdf = price(&fair, &["pdf"], false).await;
    let one = buy(&fair, "ann", &pdf).await.expect(200);
    let other = buy(&fair, "ann", &pdf).await.expect(200);
    for begun in [&one, &other] {
        fair.press(begun, "pay").await;
        assert_eq!(status(&fair, begun).await, "paid");
    }
    // Nothing is lost: both can be refunded.
    let refund = json!({"idempotencyKey": "k"});
    let path = format!("/api/v1/orders/{}/refund", one["orderId"].as_str().unwrap());
    fair.service.secret.post(&path, &refund).await.expect(200);
    assert_eq!(fair.wallet("ann").await["features"], json!(["pdf"]));
    assert_eq!(status(&fair, &other).await, "paid");
}
