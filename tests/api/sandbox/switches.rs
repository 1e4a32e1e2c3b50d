//! Tier switches at the provider, in its portal or its dashboard: the wallet ends the same in any order of
//! reports, however often each comes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::sandbox_shop::{DAY, HOUR, SandboxShop, Tiers, orders_of};

/// A user of the large tier, which the dashboard schedules to become the small one at the period's end.
async fn planned() -> (SandboxShop, Tiers) {
    let shop = SandboxShop::open().await;
    let tiers = shop.tiers().await;
    shop.buy("ann", &tiers.large).await;
    // The portal shows all tiers: now the provider has them.
    shop.portal("ann").await;
    let subscription = shop.subscription_there().await;
    let form = format!("from_subscription={}", subscription["id"].as_str().unwrap());
    let plan = shop
        .ask(Method::POST, "/v1/subscription_schedules", &form)
        .await;
    let form = format!(
        "phases[0][items][0][price]={}&phases[1][items][0][price]={}",
        shop.price_there(&tiers.large).await,
        shop.price_there(&tiers.small).await,
    );
    let path = format!(
        "/v1/subscription_schedules/{}",
        plan["id"].as_str().unwrap()
    );
    shop.ask(Method::POST, &path, &form).await;
    (shop, tiers)
}

/// The expected state with the large tier.
fn large() -> Value {
    json!({
        "balances": [900], "features": ["max", "pro"], "tiers": [["Large", "active"]],
        "ledger": [[900, "purchase"]], "orders": [["checkout", "paid", 1900, 0]],
    })
}

/// The expected state with the small tier, once its first period is paid.
fn small() -> Value {
    json!({
        "balances": [500], "features": ["pro"], "tiers": [["Small", "active"]],
        "ledger": [[900, "purchase"], [-900, "expiry"], [500, "purchase"]],
        "orders": [["checkout", "paid", 1900, 0], ["renewal", "paid", 900, 0]],
    })
}

#[tokio::test]
async fn a_tier_that_is_planned_for_the_periods_end_changes_nothing_before_it_is_paid() {
    let (shop, _) = planned().await;
    assert_eq!(shop.state_of("ann").await, large(), "planned");
    shop.advance(29 * DAY).await;
    assert_eq!(shop.state_of("ann").await, large(), "a day before");
    // At the provider the next period has begun, with a draft invoice.
    shop.advance(DAY + HOUR / 2).await;
    assert_eq!(
        shop.state_of("ann").await,
        large(),
        "within the draft's hour"
    );
    shop.advance(HOUR).await;
    assert_eq!(shop.state_of("ann").await, small());
    shop.advance(DAY).await;
    assert_eq!(shop.state_of("ann").await, small(), "a day after");
}

#[tokio::test]
async fn a_planned_tier_is_the_same_in_any_order_of_reports() {
    for order in orders_of(&[
        "invoice.paid",
        "customer.subscription.",
        "subscription_schedule.",
    ]) {
        let (shop, _) = planned().await;
        shop.advance(29 * DAY).await;
        shop.delay_webhooks().await;
        shop.advance(DAY + 2 * HOUR).await;
        let undelivered = shop.undelivered().await;
        for kind in &order {
            let of = undelivered
                .iter()
                .filter(|event| event["type"].as_str().unwrap().starts_with(kind));
            let of: Vec<&Value> = of.collect();
            assert!(!of.is_empty(), "no {kind} among {undelivered:?}");
            shop.deliver(of).await;
        }
        assert_eq!(shop.state_of("ann").await, small(), "{order:?}");
        shop.deliver(&undelivered).await;
        assert_eq!(shop.state_of("ann").await, small(), "all of it once more");
    }
}

/// A user of the small tier who switched in the middle of a month, of which these events were reported; and all
/// events that there were.
async fn switched(to: impl Fn(&Tiers) -> &String, order: &[&str]) -> (SandboxShop, Vec<Value>) {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    shop.advance(15 * DAY).await;
    shop.portal("ann").await;
    shop.delay_webhooks().await;
    shop.switch("ann", to(&tiers)).await;
    let undelivered = shop.undelivered().await;
    for kind in order {
        let of: Vec<&Value> = undelivered
            .iter()
            .filter(|it| it["type"] == *kind)
            .collect();
        assert!(!of.is_empty(), "no {kind} among {undelivered:?}");
        shop.deliver(of).await;
    }
    (shop, undelivered)
}

/// The expected state after 200 of 400 more credits were granted: half of the month is left.
fn half_a_month_of_large() -> Value {
    json!({
        "balances": [700], "features": ["max", "pro"], "tiers": [["Large", "active"]],
        "ledger": [[500, "purchase"], [200, "purchase"]],
        "orders": [["checkout", "paid", 900, 0], ["switch", "paid", 500, 0]],
    })
}

#[tokio::test]
async fn a_switch_up_brings_its_share_once_and_its_refund_takes_that() {
    for order in orders_of(&["invoice.paid", "customer.subscription.updated"]) {
        let (shop, undelivered) = switched(|tiers| &tiers.large, &order).await;
        assert_eq!(
            shop.state_of("ann").await,
            half_a_month_of_large(),
            "{order:?}"
        );
        shop.deliver(&undelivered).await;
        assert_eq!(
            shop.state_of("ann").await,
            half_a_month_of_large(),
            "once more"
        );

        // The newest payment is that of the switch.
        let portal = shop.portal("ann").await;
        shop.try_press(&portal, "refund", json!({}))
            .await
            .expect(200);
        let refunded = shop.undelivered().await;
        shop.deliver(&refunded).await;
        let seen = json!({
            "balances": [500], "features": ["pro"], "tiers": [["Small", "active"]],
            "ledger": [[500, "purchase"], [200, "purchase"], [-200, "refund"]],
            "orders": [["checkout", "paid", 900, 0], ["switch", "refunded", 500, 500]],
        });
        assert_eq!(shop.state_of("ann").await, seen, "{order:?}");
    }
}

#[tokio::test]
async fn from_a_month_to_a_year_is_a_whole_new_cycle() {
    let year = json!({
        "balances": [6000], "features": ["pro"], "tiers": [["Yearly", "active"]],
        "ledger": [[500, "purchase"], [-500, "expiry"], [6000, "purchase"]],
        "orders": [["checkout", "paid", 900, 0], ["switch", "paid", 8550, 0]],
    });
    for order in orders_of(&["invoice.paid", "customer.subscription.updated"]) {
        let (shop, undelivered) = switched(|tiers| &tiers.yearly, &order).await;
        assert_eq!(shop.state_of("ann").await, year, "{order:?}");
        shop.deliver(&undelivered).await;
        assert_eq!(shop.state_of("ann").await, year, "once more");
        let ends = &shop.wallet("ann").await["subscriptions"][0]["currentPeriodEnd"];
        assert!(ends.as_str().unwrap().starts_with("2027-12-03"), "{ends}");
    }
}

fn cents(order: &Value) -> i64 {
    order[2].as_i64().unwrap()
}

impl SandboxShop {
    /// Switches the only subscription in the provider's dashboard.
    async fn switch_there(&self, to: &str, behavior: &str) {
        let subscription = self.subscription_there().await;
        let form = format!(
            "items[0][id]={}&items[0][price]={}&proration_behavior={behavior}",
            subscription["items"]["data"][0]["id"].as_str().unwrap(),
            self.price_there(to).await,
        );
        let path = format!("/v1/subscriptions/{}", subscription["id"].as_str().unwrap());
        self.ask(Method::POST, &path, &form).await;
    }
}

#[tokio::test]
async fn a_switch_down_that_counts_at_once_there_waits_for_the_next_cycle_here() {
    for behavior in ["none", "create_prorations", "always_invoice"] {
        let shop = SandboxShop::open().await;
        let tiers = shop.tiers().await;
        shop.buy("ann", &tiers.large).await;
        shop.portal("ann").await;
        shop.advance(10 * DAY).await;
        shop.switch_there(&tiers.small, behavior).await;
        let mut state = shop.state_of("ann").await;
        // An invoice of 0 is an order, too.
        let orders = state["orders"].as_array_mut().unwrap();
        orders.retain(|order| *order != json!(["switch", "paid", 0, 0]));
        assert_eq!(state, large(), "{behavior}");
        shop.advance(21 * DAY).await;
        let state = shop.state_of("ann").await;
        for field in ["balances", "features", "tiers", "ledger"] {
            assert_eq!(state[field], small()[field], "{behavior}: {field}");
        }
    }
}

#[tokio::test]
async fn a_switch_up_that_is_billed_with_the_renewal_brings_its_share_with_it() {
    for (behavior, share) in [("none", None), ("create_prorations", Some(267))] {
        let shop = SandboxShop::open().await;
        let (_, tiers) = shop.subscribed("ann").await;
        shop.portal("ann").await;
        shop.advance(10 * DAY).await;
        shop.switch_there(&tiers.large, behavior).await;
        let unpaid = json!([[500, "purchase"]]);
        assert_eq!(shop.state_of("ann").await["ledger"], unpaid, "{behavior}");
        shop.advance(21 * DAY).await;
        let state = shop.state_of("ann").await;
        let mut renewed = vec![
            json!([500, "purchase"]),
            json!([-500, "expiry"]),
            json!([900, "purchase"]),
        ];
        renewed.extend(share.map(|share| json!([share, "purchase"])));
        assert_eq!(state["ledger"], json!(renewed), "{behavior}");
        let cents: i64 = state["orders"].as_array().unwrap()[1..]
            .iter()
            .map(cents)
            .sum();
        let billed = if share.is_some() { 1900 + 667 } else { 1900 };
        assert_eq!(cents, billed, "{behavior}");
        assert_eq!(state["tiers"], json!([["Large", "active"]]), "{behavior}");
    }
}

#[tokio::test]
async fn a_switch_while_a_renewals_invoice_is_a_draft_brings_each_of_them_once() {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    shop.portal("ann").await;
    shop.advance(30 * DAY + HOUR / 2).await;
    let before = json!({
        "balances": [500], "features": ["pro"], "tiers": [["Small", "active"]],
        "ledger": [[500, "purchase"]], "orders": [["checkout", "paid", 900, 0]],
    });
    assert_eq!(shop.state_of("ann").await, before, "a draft brings nothing");
    shop.switch("ann", &tiers.large).await;
    let switched = json!({
        "balances": [400], "features": ["max", "pro"], "tiers": [["Large", "active"]],
        "ledger": [[500, "purchase"], [-500, "expiry"], [400, "purchase"]],
        "orders": [["checkout", "paid", 900, 0], ["switch", "paid", 1000, 0]],
    });
    assert_eq!(
        shop.state_of("ann").await,
        switched,
        "it is of the new cycle"
    );
    shop.advance(HOUR).await;
    let mut renewed = switched;
    renewed["balances"] = json!([900]);
    let lines = renewed["ledger"].as_array_mut().unwrap();
    lines.push(json!([500, "purchase"]));
    let orders = renewed["orders"].as_array_mut().unwrap();
    orders.push(json!(["renewal", "paid", 900, 0]));
    assert_eq!(
        shop.state_of("ann").await,
        renewed,
        "the draft's own credits"
    );
    shop.advance(DAY).await;
    assert_eq!(shop.state_of("ann").await, renewed, "a day after");
}
