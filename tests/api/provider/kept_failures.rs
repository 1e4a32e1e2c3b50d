//! The provider stores its answers, failures too, under an idempotency key for a day. Work that an outage stopped continues
//! afterwards under another key. Refunds have tests of their own.

use std::sync::Arc;

use domain::{
    id::OrderId,
    text::{CheckoutId, SubscriptionId},
};
use payments::Providers as _;
use payments_port::Provider;
use serde_json::{Value, json};

use crate::{stripe::Override, stripe_shop::StripeShop};

fn provider(shop: &StripeShop) -> Arc<dyn Provider> {
    let project = shop.service.catalog.project(shop.service.project.id);
    shop.service.accounts.of(&project.unwrap()).unwrap()
}

fn order(checkout: &Value) -> OrderId {
    checkout["orderId"].as_str().unwrap().parse().unwrap()
}

fn outage(shop: &StripeShop, path: &str) {
    let broken = json!({"error": {"type": "api_error", "message": "It broke."}});
    let path = format!("POST {path}");
    shop.stripe.from_now_on(&path, Override::Kept(500, broken));
}

#[tokio::test]
async fn a_page_is_closed_once_the_provider_is_well() {
    let shop = StripeShop::open().await;
    let checkout_page = shop.open_checkout("ann").await;
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    let path = format!("/v1/checkout/sessions/{checkout}");
    outage(&shop, &format!("{path}/expire"));
    let checkout = CheckoutId::new(checkout).unwrap();
    let (provider, order) = (provider(&shop), order(&checkout_page));
    for _ in 0..3 {
        let closed = provider.close_checkout(&checkout, order);
        closed.await.unwrap_err();
    }
    shop.stripe.as_usual();
    let closed = provider.close_checkout(&checkout, order);
    closed.await.unwrap();
    assert_eq!(shop.stripe.set(&path, json!({}))["status"], "expired");
}

#[tokio::test]
async fn a_subscription_is_marked_once_the_provider_is_well() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    shop.subscribe(&checkout, "sub_1").await;
    let path = "/v1/subscriptions/sub_1";
    shop.stripe.set(path, json!({"metadata": {}}));
    outage(&shop, path);
    let id = SubscriptionId::new("sub_1").unwrap();
    let (provider, order) = (provider(&shop), order(&checkout));
    for _ in 0..3 {
        let marked = provider.mark_subscription(&id, order);
        marked.await.unwrap_err();
    }
    shop.stripe.as_usual();
    let marked = provider.mark_subscription(&id, order);
    marked.await.unwrap();
    let there = shop.stripe.set(path, json!({}));
    assert_eq!(there["metadata"]["scrip_order_id"], checkout["orderId"]);
}
