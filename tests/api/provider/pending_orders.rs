//! Orders without an event are looked up at the provider, again and again until it answers.

use scrip::catalog::{ProjectChange, ProviderChange};
use serde_json::json;

use crate::{
    stripe::{self, Override},
    stripe_shop::StripeShop,
};

/// Runs rounds until all events are processed.
async fn worked_off(shop: &StripeShop) {
    for _ in 0..60 {
        if shop.service.payments.inbox().waiting() == 0 {
            return;
        }
        shop.rounds(1).await;
    }
    panic!("something still waits after a minute");
}

#[tokio::test]
async fn a_report_about_an_object_that_is_not_readable_yet_is_stored() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    // The key of another account, which has no such subscription.
    let missing = json!({"error": {"type": "invalid_request_error", "code": "resource_missing"}});
    for _ in 0..3 {
        let path = "/v1/subscriptions/sub_1";
        shop.stripe
            .instead(path, Override::Status(404, missing.clone()));
    }
    shop.subscribe(&checkout, "sub_1").await;
    worked_off(&shop).await;
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn orders_are_asked_about_also_after_a_sandboxs_clock_was_left() {
    let shop = StripeShop::open().await;
    let project = shop.service.project.id;
    let set = async |provider| {
        let nothing = ProjectChange::default();
        let catalog = &shop.service.catalog;
        catalog
            .update_project(project, nothing, Some(provider))
            .await
            .unwrap();
        let payments = &shop.service.payments;
        payments.end_former_provider(project).await.unwrap();
    };
    set(ProviderChange::Sandbox).await;
    shop.service.advance(365 * 86_400).await;
    set(ProviderChange::Stripe {
        secret_key: Some(stripe::SECRET_KEY.into()),
        webhook_secret: Some(stripe::WEBHOOK_SECRET.into()),
    })
    .await;
    let checkout = shop.open_checkout("ann").await;
    shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    shop.service.handle.fold_all().await.unwrap();
    shop.service.clock.advance_millis(11 * 60 * 1000);
    shop.service.ask_about_pending().await;
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn what_the_provider_must_be_asked_about_is_tried_again() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    shop.stripe
        .instead("/v1/subscriptions/sub_1", Override::Garbage);
    shop.stripe
        .instead("/v1/subscriptions/sub_1", Override::Status(503, json!({})));
    shop.subscribe(&checkout, "sub_1").await;
    worked_off(&shop).await;
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn a_lost_webhook_loses_no_payment() {
    let shop = StripeShop::open().await;
    let (paid, closed, open) = (
        shop.open_checkout("ann").await,
        shop.open_checkout("bea").await,
        shop.open_checkout("cleo").await,
    );
    shop.stripe.pay(paid["checkoutId"].as_str().unwrap());
    let path = format!(
        "/v1/checkout/sessions/{}",
        closed["checkoutId"].as_str().unwrap()
    );
    shop.stripe.set(&path, json!({"status": "expired"}));
    shop.service.handle.fold_all().await.unwrap();
    shop.service.ask_about_pending().await;
    assert_eq!(
        shop.order(&paid["orderId"]).await["status"],
        "pending",
        "not asked about yet"
    );
    shop.service.clock.advance_millis(11 * 60 * 1000);
    shop.service.ask_about_pending().await;
    for (checkout, status) in [(&paid, "paid"), (&closed, "expired"), (&open, "pending")] {
        assert_eq!(shop.order(&checkout["orderId"]).await["status"], status);
    }
    let count = shop
        .stripe
        .calls(&format!(
            "/v1/checkout/sessions/{}",
            open["checkoutId"].as_str().unwrap()
        ))
        .len();
    shop.service.ask_about_pending().await;
    let again = shop
        .stripe
        .calls(&format!(
            "/v1/checkout/sessions/{}",
            open["checkoutId"].as_str().unwrap()
        ))
        .len();
    assert_eq!(count, again, "once for each age");
}

#[tokio::test]
async fn money_on_its_way_is_asked_about_after_the_order_expired() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.stripe.debit(checkout["checkoutId"].as_str().unwrap());
    shop.service.handle.fold_all().await.unwrap();
    let hour = 3600 * 1000;
    shop.service.clock.advance_millis(hour);
    shop.service.ask_about_pending().await;
    shop.service.clock.advance_millis(48 * hour);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "expired");
    shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    shop.service.round().await;
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
}
