//! What no event says is asked about, and asked again until it is answered.

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
async fn a_report_of_what_the_account_does_not_know_yet_is_kept() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let begun = shop.begun_with("ann", &tier).await;
    // The key of another account, which has no such subscription.
    let missing = json!({"error": {"type": "invalid_request_error", "code": "resource_missing"}});
    for _ in 0..3 {
        let path = "/v1/subscriptions/sub_1";
        shop.stripe
            .instead(path, Override::Status(404, missing.clone()));
    }
    shop.subscribe(&begun, "sub_1").await;
    worked_off(&shop).await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
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
    let begun = shop.begun("ann").await;
    shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    shop.service.handle.fold_all().await.unwrap();
    shop.service.clock.advance_millis(11 * 60 * 1000);
    shop.service.ask_about_pending().await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn what_the_provider_must_be_asked_about_is_tried_again() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let begun = shop.begun_with("ann", &tier).await;
    shop.stripe
        .instead("/v1/subscriptions/sub_1", Override::Garbage);
    shop.stripe
        .instead("/v1/subscriptions/sub_1", Override::Status(503, json!({})));
    shop.subscribe(&begun, "sub_1").await;
    worked_off(&shop).await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn a_lost_webhook_loses_no_payment() {
    let shop = StripeShop::open().await;
    let (paid, closed, open) = (
        shop.begun("ann").await,
        shop.begun("bea").await,
        shop.begun("cleo").await,
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
    for (begun, status) in [(&paid, "paid"), (&closed, "expired"), (&open, "pending")] {
        assert_eq!(shop.order(&begun["orderId"]).await["status"], status);
    }
    let asked = shop
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
    assert_eq!(asked, again, "once for each age");
}

#[tokio::test]
async fn money_on_its_way_is_asked_about_after_the_order_expired() {
    let shop = StripeShop::open().await;
    let begun = shop.begun("ann").await;
    shop.stripe.debit(begun["checkoutId"].as_str().unwrap());
    shop.service.handle.fold_all().await.unwrap();
    let hour = 3600 * 1000;
    shop.service.clock.advance_millis(hour);
    shop.service.ask_about_pending().await;
    shop.service.clock.advance_millis(48 * hour);
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "expired");
    shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    shop.service.round().await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}
