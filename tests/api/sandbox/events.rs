//! The provider's list of events without any webhook, and the hour in which a renewal's invoice is a draft.

use reqwest::Method;
use serde_json::json;

use crate::sandbox_shop::{DAY, HOUR, SandboxShop};

#[tokio::test]
async fn without_a_single_webhook_the_list_of_events_says_it_all() {
    let shop = SandboxShop::open().await;
    shop.delay_webhooks().await;
    let once = shop.buy_credits("ann").await;
    shop.subscribed("bea").await;
    shop.read().await;
    assert!(!shop.undelivered().await.is_empty(), "no webhook came");
    let purchase = json!({
        "balances": [100], "features": [], "tiers": [],
        "ledger": [[100, "purchase"]], "orders": [["checkout", "paid", 500, 0]],
    });
    let subscribed = json!({
        "balances": [500], "features": ["pro"], "tiers": [["Small", "active"]],
        "ledger": [[500, "purchase"]], "orders": [["checkout", "paid", 900, 0]],
    });
    assert_eq!(shop.state_of("ann").await, purchase);
    assert_eq!(shop.state_of("bea").await, subscribed);
    assert_eq!(shop.read().await, 0, "nothing is new");

    let portal = shop.portal("ann").await;
    let half = json!({"amountCents": "250"});
    shop.try_press(&portal, "refund", half).await.expect(200);
    shop.read().await;
    let order = shop.order(&once).await;
    assert_eq!(
        (&order["refundedCents"], &order["balance"]),
        (&json!(250), &json!(50))
    );
    shop.try_press(&portal, "dispute", json!({}))
        .await
        .expect(200);
    shop.read().await;
    assert_eq!(shop.order(&once).await["status"], "refunded");
    shop.try_press(&portal, "dispute_won", json!({}))
        .await
        .expect(200);
    shop.read().await;
    let lines = json!([
        [100, "purchase"],
        [-50, "refund"],
        [-50, "refund"],
        [50, "refund"]
    ]);
    let state = shop.state_of("ann").await;
    assert_eq!(state["ledger"], lines);
    assert_eq!(state["orders"], json!([["checkout", "paid", 500, 250]]));
    assert_eq!(shop.read().await, 0, "nothing is new");
}

#[tokio::test]
async fn a_subscription_that_ended_without_a_webhook_is_read_from_the_list_of_events() {
    let shop = SandboxShop::open().await;
    shop.subscribed("ann").await;
    shop.advance(3 * DAY).await;
    shop.delay_webhooks().await;
    let id = shop.subscription_there().await["id"].clone();
    let path = format!("/v1/subscriptions/{}", id.as_str().unwrap());
    shop.ask(Method::DELETE, &path, "").await;
    shop.read().await;
    let delivered = shop.undelivered().await;
    let delivered = delivered
        .iter()
        .any(|event| event["type"] == "customer.subscription.deleted");
    assert!(delivered, "its webhook did not come");
    let ended = json!({
        "balances": [0], "features": [], "tiers": [],
        "ledger": [[500, "purchase"], [-500, "expiry"]],
        "orders": [["checkout", "paid", 900, 0]],
    });
    assert_eq!(shop.state_of("ann").await, ended);
    shop.deliver(&shop.undelivered().await).await;
    assert_eq!(shop.state_of("ann").await, ended, "delivered after all");
}

#[tokio::test]
async fn a_renewal_without_a_webhook_is_read_from_the_list_of_events() {
    let shop = SandboxShop::open().await;
    shop.subscribed("ann").await;
    shop.advance(29 * DAY).await;
    shop.delay_webhooks().await;
    shop.advance(DAY + 2 * HOUR).await;
    shop.read().await;
    let renewed = json!({
        "balances": [500], "features": ["pro"], "tiers": [["Small", "active"]],
        "ledger": [[500, "purchase"], [-500, "expiry"], [500, "purchase"]],
        "orders": [["checkout", "paid", 900, 0], ["renewal", "paid", 900, 0]],
    });
    assert_eq!(shop.state_of("ann").await, renewed);
    let late = shop.undelivered().await;
    assert!(late.iter().any(|event| event["type"] == "invoice.paid"));
    shop.deliver(&late).await;
    assert_eq!(shop.state_of("ann").await, renewed, "delivered after all");
}

#[tokio::test]
async fn the_hour_in_which_a_renewal_is_a_draft_brings_nothing_twice() {
    let shop = SandboxShop::open().await;
    shop.subscribed("ann").await;
    shop.advance(29 * DAY).await;
    shop.delay_webhooks().await;
    shop.advance(DAY + HOUR / 2).await;
    let draft = shop.undelivered().await;
    let kinds = ["invoice.created", "customer.subscription.updated"];
    for kind in kinds {
        assert!(draft.iter().any(|event| event["type"] == kind), "{kind}");
    }
    let paid = json!([[500, "purchase"]]);
    for _ in 0..2 {
        shop.deliver(draft.iter().rev()).await;
        shop.read().await;
        let state = shop.state_of("ann").await;
        assert_eq!(
            (&state["ledger"], &state["features"]),
            (&paid, &json!(["pro"]))
        );
        assert_eq!(state["tiers"], json!([["Small", "active"]]));
    }
    shop.advance(HOUR).await;
    let renewed = json!([[500, "purchase"], [-500, "expiry"], [500, "purchase"]]);
    for _ in 0..2 {
        shop.deliver(shop.undelivered().await.iter().rev()).await;
        shop.read().await;
        assert_eq!(shop.state_of("ann").await["ledger"], renewed);
    }
}
