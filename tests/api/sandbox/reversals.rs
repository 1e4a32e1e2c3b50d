//! Refunds and disputes, also reverted ones: only the payment's current state counts.

use reqwest::Method;
use serde_json::{Value, json};

use crate::sandbox_shop::{DAY, HOUR, SandboxShop};

/// A purchase of 100 credits for 5.00.
struct Purchase {
    shop: SandboxShop,
    checkout: Value,
    portal: String,
}

impl Purchase {
    async fn new() -> Self {
        let shop = SandboxShop::open().await;
        let checkout = shop.buy_credits("ann").await;
        let portal = shop.portal("ann").await;
        Self {
            shop,
            checkout,
            portal,
        }
    }

    async fn press(&self, button: &str, fields: Value) {
        let done = self.shop.try_press(&self.portal, button, fields).await;
        done.expect(200);
    }

    /// The order's status, cents refunded and balance, and the ledger after its first line.
    async fn expect_position(&self, status: &str, refunded: i64, moved: &[i64]) {
        let order = self.shop.order(&self.checkout).await;
        let balance = 100 + moved.iter().sum::<i64>();
        assert_eq!(
            (&order["status"], &order["refundedCents"], &order["balance"]),
            (&json!(status), &json!(refunded), &json!(balance)),
        );
        let ledger = moved.iter().map(|delta| json!([delta, "refund"]));
        let purchase = json!([100, "purchase"]);
        let ledger: Vec<Value> = std::iter::once(purchase).chain(ledger).collect();
        let state = self.shop.state_of("ann").await;
        assert_eq!(state["ledger"], json!(ledger));
        assert_eq!(state["balances"], json!([balance]));
        assert_eq!(
            state["orders"],
            json!([["checkout", status, 500, refunded]])
        );
    }

    async fn disputes(&self) -> Vec<String> {
        let all = self.shop.ask(Method::GET, "/v1/disputes", "").await;
        let all = all["data"].as_array().unwrap().iter();
        all.map(|dispute| dispute["id"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[tokio::test]
async fn partial_refunds_add_up_to_the_whole() {
    let purchase = Purchase::new().await;
    purchase.expect_position("paid", 0, &[]).await;
    purchase
        .press("refund", json!({"amountCents": "199"}))
        .await;
    purchase.expect_position("paid", 199, &[-39]).await;
    purchase
        .press("refund", json!({"amountCents": "199"}))
        .await;
    purchase.expect_position("paid", 398, &[-39, -40]).await;
    purchase.press("refund", json!({})).await;
    purchase
        .expect_position("refunded", 500, &[-39, -40, -21])
        .await;
}

#[tokio::test]
async fn a_refund_on_its_way_counts_and_one_that_fails_gives_back() {
    let purchase = Purchase::new().await;
    let slowly = json!({"amountCents": "200", "status": "pending"});
    purchase.press("refund", slowly.clone()).await;
    purchase.expect_position("paid", 200, &[-40]).await;
    purchase.press("refund_fails", json!({})).await;
    purchase.expect_position("paid", 0, &[-40, 40]).await;
    purchase.press("refund", slowly).await;
    purchase.press("refund_succeeds", json!({})).await;
    purchase.expect_position("paid", 200, &[-40, 40, -40]).await;
    let failing = json!({"status": "failed"});
    purchase.press("refund", failing).await;
    purchase.expect_position("paid", 200, &[-40, 40, -40]).await;
    // A refund of all the rest, which fails later: the order is paid again.
    purchase.press("refund", json!({"status": "pending"})).await;
    purchase
        .expect_position("refunded", 500, &[-40, 40, -40, -60])
        .await;
    purchase.press("refund_fails", json!({})).await;
    purchase
        .expect_position("paid", 200, &[-40, 40, -40, -60, 60])
        .await;
}

#[tokio::test]
async fn what_is_spent_is_not_taken_and_not_given_back() {
    let purchase = Purchase::new().await;
    let spent = json!({
        "externalUserId": "ann", "productId": purchase.shop.service.product, "amount": 80,
        "idempotencyKey": "spent",
    });
    let secret = &purchase.shop.service.secret;
    let path = "/api/v1/wallets/external/deduct";
    secret.post(path, &spent).await.expect(200);
    for (button, balance, status) in [("refund", 0, "refunded"), ("refund_fails", 20, "paid")] {
        purchase.press(button, json!({"status": "pending"})).await;
        let state = purchase.shop.state_of("ann").await;
        assert_eq!(state["balances"], json!([balance]), "{button}");
        assert_eq!(state["orders"][0][1], status, "{button}");
    }
    let deltas: Vec<i64> = purchase
        .shop
        .ledger("ann")
        .await
        .into_iter()
        .map(|(delta, _)| delta)
        .collect();
    assert_eq!(deltas, [100, -80, -20, 20]);
}

#[tokio::test]
async fn disputes_of_one_payment_add_up_and_each_is_won_or_lost_by_itself() {
    let purchase = Purchase::new().await;
    purchase
        .press("refund", json!({"amountCents": "100"}))
        .await;
    purchase
        .press("dispute", json!({"amountCents": "200"}))
        .await;
    purchase.expect_position("paid", 100, &[-20, -40]).await;
    purchase.press("dispute", json!({})).await;
    purchase
        .expect_position("refunded", 100, &[-20, -40, -40])
        .await;
    let [second, first] = purchase.disputes().await.try_into().unwrap();
    purchase
        .press("dispute_lost", json!({"dispute": second}))
        .await;
    purchase
        .expect_position("refunded", 100, &[-20, -40, -40])
        .await;
    purchase
        .press("dispute_won", json!({"dispute": first}))
        .await;
    purchase
        .expect_position("paid", 100, &[-20, -40, -40, 40])
        .await;
}

#[tokio::test]
async fn an_inquiry_takes_nothing_before_it_becomes_a_dispute() {
    let purchase = Purchase::new().await;
    let asks = json!({"amountCents": "250", "inquiry": "true"});
    purchase.press("dispute", asks.clone()).await;
    purchase.expect_position("paid", 0, &[]).await;
    purchase.press("dispute_won", json!({})).await;
    purchase.expect_position("paid", 0, &[]).await;
    purchase.press("dispute", asks).await;
    purchase.press("dispute_escalated", json!({})).await;
    purchase.expect_position("paid", 0, &[-50]).await;
    purchase.press("dispute_won", json!({})).await;
    purchase.expect_position("paid", 0, &[-50, 50]).await;
}

#[tokio::test]
async fn a_dispute_that_was_lost_may_still_be_won() {
    let purchase = Purchase::new().await;
    purchase.press("dispute", json!({})).await;
    purchase.press("dispute_lost", json!({})).await;
    purchase.expect_position("refunded", 0, &[-100]).await;
    let [dispute] = purchase.disputes().await.try_into().unwrap();
    let path = format!("/script/disputes/{dispute}/win");
    purchase.shop.ask(Method::POST, &path, "").await;
    purchase.expect_position("paid", 0, &[-100, 100]).await;
}

#[tokio::test]
async fn a_full_refund_of_the_current_cycle_ends_its_features_and_no_others() {
    let shop = SandboxShop::open().await;
    shop.subscribed("ann").await;
    shop.advance(30 * DAY + 2 * HOUR).await;
    let lines = json!([[500, "purchase"], [-500, "expiry"], [500, "purchase"]]);
    let state = shop.state_of("ann").await;
    assert_eq!(
        (&state["ledger"], &state["features"]),
        (&lines, &json!(["pro"]))
    );
    let portal = shop.portal("ann").await;
    let charges = shop.ask(Method::GET, "/v1/charges", "").await;
    let [now, before] = [0, 1].map(|place| charges["data"][place]["id"].clone());
    let refund = async |charge: &Value, cents: &str| {
        let fields = json!({"charge": charge, "amountCents": cents});
        shop.try_press(&portal, "refund", fields).await.expect(200);
        shop.state_of("ann").await
    };
    // The cycle before: its credits have expired.
    let state = refund(&before, "900").await;
    assert_eq!(state["features"], json!(["pro"]));
    assert_eq!(state["balances"], json!([500]));
    let state = refund(&now, "899").await;
    assert_eq!(state["features"], json!(["pro"]), "not all of it");
    let state = refund(&now, "1").await;
    assert_eq!(state["features"], json!([]));
    assert_eq!(state["balances"], json!([0]));
    let orders = json!([
        ["checkout", "refunded", 900, 900],
        ["renewal", "refunded", 900, 900]
    ]);
    assert_eq!(state["orders"], orders);
    // The next cycle is paid again.
    shop.advance(31 * DAY).await;
    let state = shop.state_of("ann").await;
    assert_eq!(
        (&state["balances"], &state["features"]),
        (&json!([500]), &json!(["pro"]))
    );
}

#[tokio::test]
async fn disputes_are_events_of_their_own_and_no_refunds() {
    let purchase = Purchase::new().await;
    let events = async || {
        let path = "/api/v1/events?types=order.refunded,order.disputed,order.dispute_closed";
        let reply = purchase.shop.service.secret.get(path).await.expect(200);
        let reply = reply["events"].as_array().unwrap().clone();
        let facts = reply.into_iter().map(|event| {
            let (kind, data) = (&event["type"], &event["data"]);
            let dispute = &data["dispute"];
            json!([
                kind,
                data["won"],
                dispute["inquiry"],
                dispute["respondBy"].is_string()
            ])
        });
        facts.collect::<Vec<_>>()
    };
    purchase.press("dispute", json!({"inquiry": "true"})).await;
    let body = json!(["order.disputed", null, true, true]);
    assert_eq!(events().await, [body]);
    purchase.press("dispute_escalated", json!({})).await;
    purchase.press("dispute_won", json!({})).await;
    let won = json!(["order.dispute_closed", true, false, false]);
    assert_eq!(events().await.len(), 3);
    assert_eq!(events().await[2], won);
    purchase.shop.service.clock.advance_millis(1000);
    purchase.press("dispute", json!({})).await;
    let path = "/api/v1/events?types=order.disputed";
    let reply = purchase.shop.service.secret.get(path).await.expect(200);
    let data = &reply["events"].as_array().unwrap().last().unwrap()["data"];
    assert_eq!(data["order"]["id"], purchase.checkout["orderId"]);
    let dispute = &data["dispute"];
    assert_eq!(
        (
            &dispute["amountCents"],
            &dispute["currency"],
            &dispute["inquiry"]
        ),
        (&json!(500), &json!("EUR"), &json!(false))
    );
    purchase.press("dispute_lost", json!({})).await;
    let all = events().await;
    assert_eq!(all.len(), 5, "{all:?}");
    assert_eq!(all[4], json!(["order.dispute_closed", false, false, false]));
}
