//! The provider's list of events without any webhook, and the hour in which a renewal's invoice is a draft.

use reqwest::Method;
use serde_json::json;

use crate::fair::{DAY, Fair, HOUR};

#[tokio::test]
async fn without_a_single_webhook_the_list_of_events_says_it_all() {
    let fair = Fair::open().await;
    fair.deafen().await;
    let once = fair.bought("ann").await;
    fair.subscribed("bea").await;
    fair.read().await;
    assert!(!fair.untold().await.is_empty(), "no webhook came");
    let bought = json!({
        "balances": [100], "features": [], "tiers": [],
        "ledger": [[100, "purchase"]], "orders": [["checkout", "paid", 500, 0]],
    });
    let subscribed = json!({
        "balances": [500], "features": ["pro"], "tiers": [["Small", "active"]],
        "ledger": [[500, "purchase"]], "orders": [["checkout", "paid", 900, 0]],
    });
    assert_eq!(fair.sees("ann").await, bought);
    assert_eq!(fair.sees("bea").await, subscribed);
    assert_eq!(fair.read().await, 0, "nothing is new");

    let portal = fair.portal("ann").await;
    let half = json!({"amountCents": "250"});
    fair.try_press(&portal, "refund", half).await.expect(200);
    fair.read().await;
    let order = fair.order(&once).await;
    assert_eq!(
        (&order["refundedCents"], &order["balance"]),
        (&json!(250), &json!(50))
    );
    fair.try_press(&portal, "dispute", json!({}))
        .await
        .expect(200);
    fair.read().await;
    assert_eq!(fair.order(&once).await["status"], "refunded");
    fair.try_press(&portal, "dispute_won", json!({}))
        .await
        .expect(200);
    fair.read().await;
    let lines = json!([
        [100, "purchase"],
        [-50, "refund"],
        [-50, "refund"],
        [50, "refund"]
    ]);
    let seen = fair.sees("ann").await;
    assert_eq!(seen["ledger"], lines);
    assert_eq!(seen["orders"], json!([["checkout", "paid", 500, 250]]));
    assert_eq!(fair.read().await, 0, "nothing is new");
}

#[tokio::test]
async fn a_subscription_that_ended_unheard_is_found_in_the_list_of_events() {
    let fair = Fair::open().await;
    fair.subscribed("ann").await;
    fair.advance(3 * DAY).await;
    fair.deafen().await;
    let id = fair.subscription_there().await["id"].clone();
    let path = format!("/v1/subscriptions/{}", id.as_str().unwrap());
    fair.ask(Method::DELETE, &path, "").await;
    fair.read().await;
    let told = fair.untold().await;
    let told = told
        .iter()
        .any(|event| event["type"] == "customer.subscription.deleted");
    assert!(told, "its webhook did not come");
    let ended = json!({
        "balances": [0], "features": [], "tiers": [],
        "ledger": [[500, "purchase"], [-500, "expiry"]],
        "orders": [["checkout", "paid", 900, 0]],
    });
    assert_eq!(fair.sees("ann").await, ended);
    fair.tell(&fair.untold().await).await;
    assert_eq!(fair.sees("ann").await, ended, "told after all");
}

#[tokio::test]
async fn a_renewal_that_nobody_told_of_is_found_in_the_list_of_events() {
    let fair = Fair::open().await;
    fair.subscribed("ann").await;
    fair.advance(29 * DAY).await;
    fair.deafen().await;
    fair.advance(DAY + 2 * HOUR).await;
    fair.read().await;
    let renewed = json!({
        "balances": [500], "features": ["pro"], "tiers": [["Small", "active"]],
        "ledger": [[500, "purchase"], [-500, "expiry"], [500, "purchase"]],
        "orders": [["checkout", "paid", 900, 0], ["renewal", "paid", 900, 0]],
    });
    assert_eq!(fair.sees("ann").await, renewed);
    let late = fair.untold().await;
    assert!(late.iter().any(|event| event["type"] == "invoice.paid"));
    fair.tell(&late).await;
    assert_eq!(fair.sees("ann").await, renewed, "told after all");
}

#[tokio::test]
async fn the_hour_in_which_a_renewal_is_a_draft_brings_nothing_twice() {
    let fair = Fair::open().await;
    fair.subscribed("ann").await;
    fair.advance(29 * DAY).await;
    fair.deafen().await;
    fair.advance(DAY + HOUR / 2).await;
    let draft = fair.untold().await;
    let kinds = ["invoice.created", "customer.subscription.updated"];
    for kind in kinds {
        assert!(draft.iter().any(|event| event["type"] == kind), "{kind}");
    }
    let paid = json!([[500, "purchase"]]);
    for _ in 0..2 {
        fair.tell(draft.iter().rev()).await;
        fair.read().await;
        let seen = fair.sees("ann").await;
        assert_eq!(
            (&seen["ledger"], &seen["features"]),
            (&paid, &json!(["pro"]))
        );
        assert_eq!(seen["tiers"], json!([["Small", "active"]]));
    }
    fair.advance(HOUR).await;
    let renewed = json!([[500, "purchase"], [-500, "expiry"], [500, "purchase"]]);
    for _ in 0..2 {
        fair.tell(fair.untold().await.iter().rev()).await;
        fair.read().await;
        assert_eq!(fair.sees("ann").await["ledger"], renewed);
    }
}
