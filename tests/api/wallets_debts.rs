//! Debts: what pays them, and what does not end them.

use domain::{Amount, catalog::FreeGrant, time::Period};
use scrip::catalog::ProductChange;
use serde_json::{Value, json};

use crate::{
    sandbox_shop::{DAY, SandboxShop},
    service::{Service, lines},
};

/// Lets Ann owe so many credits of the product, beyond all that she has.
async fn owe(service: &Service, product: &str, amount: i64) {
    let limit = json!({ "externalUserId": "ann", "productId": product, "debtLimit": 1000 });
    let path = "/api/v1/wallets/external/debt-limit";
    let state = service.secret.post(path, &limit).await.expect(200);
    let cost = state["balance"].as_i64().unwrap() + amount;
    let deduct = json!({
        "externalUserId": "ann", "productId": product, "amount": cost,
        "idempotencyKey": format!("owe {amount}"), "onShortfall": "owe",
    });
    let path = "/api/v1/wallets/external/deduct";
    let met = service.secret.post(path, &deduct).await.expect(200);
    assert_eq!((&met["owed"], &met["balance"]), (&json!(amount), &json!(0)));
}

/// Ann's credits of a product: what can be spent, and what is owed.
async fn has(shop: &SandboxShop, product: &str) -> [i64; 2] {
    let wallet = shop.wallet("ann").await;
    let mut balances = wallet["balances"].as_array().unwrap().iter();
    let balance = balances.find(|it| it["productId"] == product).unwrap();
    ["balance", "owed"].map(|name| balance[name].as_i64().unwrap_or(0))
}

/// The last lines of Ann's ledger, oldest first.
async fn last_lines(service: &Service, count: usize) -> Vec<(i64, String)> {
    let ledger = service.ledger("ann").await;
    ledger[ledger.len() - count..].to_vec()
}

#[tokio::test]
async fn a_purchase_a_grant_free_credits_and_a_failed_refund_pay_the_debt_first() {
    let shop = SandboxShop::open().await;
    let (service, product) = (&shop.service, shop.service.product.as_str());
    shop.buy_credits("ann").await;
    let portal = shop.portal("ann").await;
    let press = async |button: &str, fields: Value| {
        let done = shop.try_press(&portal, button, fields).await;
        done.expect(200);
    };
    press("refund", json!({ "status": "pending" })).await;
    owe(service, product, 175).await;
    assert_eq!(has(&shop, product).await, [0, 175]);
    // The refund fails: its credits were bought after all.
    press("refund_fails", json!({})).await;
    assert_eq!(has(&shop, product).await, [0, 75]);
    service.grant("ann", 15).await;
    assert_eq!(has(&shop, product).await, [0, 60]);
    let free = FreeGrant {
        credits: Amount::new(20).unwrap(),
        period: Period::Daily,
    };
    let change = ProductChange {
        free_grant: Some(Some(free)),
        ..ProductChange::default()
    };
    let (project, id) = (service.project.id, product.parse().unwrap());
    service
        .catalog
        .update_product(project, id, change)
        .await
        .unwrap();
    assert_eq!(has(&shop, product).await, [0, 40]);
    shop.buy_credits("ann").await;
    assert_eq!(has(&shop, product).await, [60, 0]);
    let expected = lines(&[
        (-175, "deduction"),
        (100, "refund"),
        (15, "manual"),
        (20, "free_grant"),
        (100, "purchase"),
    ]);
    assert_eq!(last_lines(service, 5).await, expected);
}

#[tokio::test]
async fn no_cycle_ends_a_debt_and_each_paid_one_pays_it_down() {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    assert_eq!(has(&shop, &tiers.product).await, [500, 0]);
    owe(&shop.service, &tiers.product, 700).await;
    for (expected, lasts) in [([0, 200], 32), ([300, 0], 31)] {
        shop.advance(lasts * DAY).await;
        assert_eq!(has(&shop, &tiers.product).await, expected);
    }
    // The cycle's end takes what is left, and nothing else does.
    owe(&shop.service, &tiers.product, 600).await;
    let cancel = json!({
        "externalUserId": "ann", "productId": tiers.product, "atPeriodEnd": false,
        "idempotencyKey": "enough",
    });
    let path = "/api/v1/subscriptions/cancel";
    shop.service.secret.post(path, &cancel).await.expect(200);
    shop.advance(400 * DAY).await;
    assert_eq!(has(&shop, &tiers.product).await, [0, 600]);
}

#[tokio::test]
async fn credits_that_expire_leave_the_debt_as_it_is() {
    let service = Service::start().await;
    service.trust(100).await;
    let credit = json!({
        "externalUserId": "ann", "productId": service.product, "amount": 30,
        "idempotencyKey": "short", "expiresAt": "2026-11-19T11:06:40.000Z",
    });
    service
        .secret
        .post("/api/v1/credit", &credit)
        .await
        .expect(200);
    let hold = json!({ "externalUserId": "ann", "amount": 30, "idempotencyKey": "h" });
    let path = "/api/v1/wallets/external/holds";
    let hold = service.secret.post(path, &hold).await.expect(200);
    owe(&service, &service.product, 40).await;
    // What a hold gives back is no credit: it can be spent, beside the debt.
    let release = format!("/api/v1/holds/{}/release", hold["holdId"].as_str().unwrap());
    service
        .secret
        .post(&release, &Value::Null)
        .await
        .expect(200);
    assert_eq!(service.position("ann").await, [30, 0, 40]);
    service.clock.advance_millis(DAY * 1000);
    assert_eq!(service.position("ann").await, [0, 0, 40]);
    let path = "/api/v1/wallets/external/ledger?externalUserId=ann";
    let entry = service.secret.get(path).await.expect(200)["entries"][0].clone();
    assert_eq!(
        (&entry["reason"], &entry["delta"], &entry["balanceAfter"]),
        (&json!("expiry"), &json!(-30), &json!(-40))
    );
}

#[tokio::test]
async fn usage_counts_charged_and_owed_credits_and_reversals() {
    let service = Service::start().await;
    service.trust(100).await;
    service.grant("ann", 50).await;
    let hold = json!({ "externalUserId": "ann", "amount": 40, "idempotencyKey": "h" });
    let path = "/api/v1/wallets/external/holds";
    let hold = service.secret.post(path, &hold).await.expect(200);
    let hold = format!("/api/v1/holds/{}", hold["holdId"].as_str().unwrap());
    for (key, amount) in [("a", 20), ("b", 10)] {
        let draw = json!({ "amount": amount, "idempotencyKey": key });
        let path = format!("{hold}/draw");
        service.secret.post(&path, &draw).await.expect(200);
    }
    let settle = json!({ "amount": 25 });
    let path = format!("{hold}/settle");
    service.secret.post(&path, &settle).await.expect(200);
    owe(&service, &service.product, 15).await;
    let forgive = json!({
        "externalUserId": "ann", "productId": service.product, "amount": 5,
        "idempotencyKey": "f", "note": "an outage of ours",
    });
    let path = "/api/v1/wallets/external/forgive";
    service.secret.post(path, &forgive).await.expect(200);
    let path = "/api/v1/usage?interval=day&from=2026-11-18T00:00:00Z&to=2026-11-19T00:00:00Z";
    let usage = service.secret.get(path).await.expect(200);
    let bucket = &usage["buckets"][0];
    // 20 and 10 drawn, 5 of it given back; 25 charged with 15 owed; 50 given and 5 forgiven.
    let counted = ["granted", "deducted", "deductions"].map(|name| bucket[name].as_i64().unwrap());
    assert_eq!(counted, [55, 65, 3]);
    assert_eq!(service.position("ann").await, [0, 0, 10], "55 less 65");
}
