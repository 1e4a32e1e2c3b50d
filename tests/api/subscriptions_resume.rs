//! `POST /subscriptions/resume`: undoes a planned cancellation.

use domain::catalog::KeyKind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Reply,
    sandbox_shop::{DAY, SandboxShop},
    service::{assert_invalid, assert_refused, header},
    stripe_shop::StripeShop,
};

const CANCEL: &str = "/api/v1/subscriptions/cancel";
const RESUME: &str = "/api/v1/subscriptions/resume";
const REPLAYED: &str = "idempotency-replayed";

async fn subscribed() -> (SandboxShop, Value) {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    let body = json!({"externalUserId": "ann", "productId": tiers.product, "idempotencyKey": "k"});
    (shop, body)
}

async fn post(shop: &SandboxShop, path: &str, body: &Value) -> Reply {
    shop.service.secret.post(path, body).await
}

/// The provider's id of Ann's subscription.
async fn subscription(shop: &SandboxShop) -> String {
    let order = shop.orders().await.remove(0);
    let id = order["payment"]["subscriptionId"].as_str();
    id.unwrap().to_owned()
}

#[tokio::test]
async fn what_was_to_end_with_its_period_goes_on() {
    let (shop, body) = subscribed().await;
    post(&shop, CANCEL, &body).await.expect(200);
    let reply = post(&shop, RESUME, &body).await;
    assert_eq!(header(&reply, REPLAYED), None, "another operation's key");
    let goes_on = reply.expect(200);
    assert_eq!(goes_on["status"], "active");
    assert_eq!(goes_on.get("cancelAtPeriodEnd"), None);
    assert_eq!(goes_on, shop.wallet("ann").await["subscriptions"][0]);
    // Repeating a finished call undoes nothing.
    let canceled = post(&shop, CANCEL, &body).await;
    assert_eq!(header(&canceled, REPLAYED), Some("true"));
    assert_eq!(canceled.expect(200), goes_on);
    shop.service.advance(32 * DAY).await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], 500, "renewed");
    let again = post(&shop, RESUME, &body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(again.expect(200), wallet["subscriptions"][0]);
}

#[tokio::test]
async fn what_is_not_collected_is_collected_again() {
    let (shop, body) = subscribed().await;
    let id = subscription(&shop).await;
    let path = format!("/v1/subscriptions/{id}");
    shop.ask(Method::POST, &path, "pause_collection[behavior]=void")
        .await;
    shop.service.advance(60).await;
    let paused = shop.wallet("ann").await;
    assert_eq!(paused["subscriptions"][0]["status"], "active");
    assert_eq!(paused["subscriptions"][0]["collectionPaused"], true);
    assert_eq!(paused["features"], json!(["pro"]));
    let goes_on = post(&shop, RESUME, &body).await.expect(200);
    assert_eq!(goes_on["status"], "active");
    assert!(goes_on.get("collectionPaused").is_none());
    assert_eq!(shop.wallet("ann").await["features"], json!(["pro"]));
}

#[tokio::test]
async fn one_whose_trial_ended_without_a_card_goes_on() {
    let (shop, body) = subscribed().await;
    let id = subscription(&shop).await;
    let path = format!("/script/subscriptions/{id}/pause");
    shop.ask(Method::POST, &path, "").await;
    shop.service.advance(60).await;
    let paused = shop.wallet("ann").await;
    assert_eq!(paused["subscriptions"][0]["status"], "paused");
    let goes_on = post(&shop, RESUME, &body).await.expect(200);
    assert_eq!(goes_on["status"], "active");
}

#[tokio::test]
async fn one_that_goes_on_anyway_is_left_alone() {
    let (shop, body) = subscribed().await;
    let goes_on = post(&shop, RESUME, &body).await.expect(200);
    assert_eq!(goes_on, shop.wallet("ann").await["subscriptions"][0]);
}

#[tokio::test]
async fn one_that_is_over_is_not_found() {
    let (shop, mut body) = subscribed().await;
    body["atPeriodEnd"] = json!(false);
    post(&shop, CANCEL, &body).await.expect(200);
    assert_refused(
        &post(&shop, RESUME, &body).await,
        404,
        "subscription_not_found",
    );
}

#[tokio::test]
async fn a_cancellation_by_date_is_withdrawn_too() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let body = json!({"priceId": tier, "externalUserId": "ann"});
    let checkout = shop.checkout(body).await.expect(200);
    let mut now = shop.subscribe(&checkout, "sub_1").await;
    let end = now["items"]["data"][0]["current_period_end"].clone();
    now["cancel_at"] = end;
    now["cancel_at_period_end"] = json!(false);
    shop.set_subscription(&now);
    shop.report("customer.subscription.updated", &now)
        .await
        .expect(200);
    let subscription = &shop.wallet("ann").await["subscriptions"][0];
    assert_eq!(subscription["cancelAtPeriodEnd"], true);
    let product = shop.product_of(&tier).to_string();
    let body = json!({"externalUserId": "ann", "productId": product, "idempotencyKey": "k"});
    let reply = shop.service.secret.post(RESUME, &body).await.expect(200);
    assert_eq!(reply.get("cancelAtPeriodEnd"), None);
}

#[tokio::test]
async fn permission_and_request_are_checked_first() {
    let (shop, body) = subscribed().await;
    let service = &shop.service;
    let reply = service.publishable.post(RESUME, &body).await;
    assert_refused(&reply, 403, "secret_key_required");
    let stranger = service.stranger(KeyKind::Secret).await;
    let reply = stranger.post(RESUME, &body).await;
    assert_refused(&reply, 404, "product_not_found");
    let mut keyless = body.clone();
    keyless["idempotencyKey"] = Value::Null;
    assert_invalid(&post(&shop, RESUME, &keyless).await, "idempotencyKey");
    let mut other = body.clone();
    post(&shop, RESUME, &body).await.expect(200);
    other["productId"] = json!(service.add_plan().await.to_string());
    assert_refused(
        &post(&shop, RESUME, &other).await,
        409,
        "idempotency_key_reused",
    );
}
