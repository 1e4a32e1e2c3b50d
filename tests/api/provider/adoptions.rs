//! Subscriptions that already ran at the provider: the administration lists them and takes them over.

use kit::service::ADMIN_TOKEN;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{assert_invalid, assert_refused, lines},
    stripe::Override,
    stripe_shop::StripeShop,
};

const DAY: i64 = 86_400;

/// A shop with a tier, and an account with a subscription that has been paid for some time.
struct RunningSubscription {
    shop: StripeShop,
    tier: String,
}

impl RunningSubscription {
    async fn open() -> Self {
        let shop = StripeShop::open().await;
        let tier = shop.add_tier(500).await;
        let price = json!({"id": "price_old", "object": "price", "product": "prod_old",
            "active": true, "currency": "eur", "unit_amount": 1900, "metadata": {},
            "recurring": {"interval": "month", "interval_count": 1}});
        shop.stripe.put("/v1/prices/price_old", price.clone());
        let customer = json!({"id": "cus_9", "object": "customer", "email": "ann@mail.example",
            "metadata": {"user": "ann"}});
        shop.stripe.put("/v1/customers/cus_9", customer);
        shop.stripe.put("/v1/customers/cus_8", json!({}));
        let bill = json!({"id": "in_old", "object": "invoice", "customer": "cus_9",
        "status": "paid", "billing_reason": "subscription_cycle", "amount_paid": 1900,
        "currency": "eur", "created": shop.seconds() - DAY,
        "parent": {"subscription_details": {"subscription": "sub_old", "metadata": {}}},
        "lines": {"object": "list", "has_more": false, "data": [{
            "id": "il_old", "amount": 1900, "quantity": 1,
            "period": {"start": shop.seconds() - DAY, "end": shop.seconds() + 29 * DAY},
            "parent": {"subscription_item_details": {"proration": false, "subscription": "sub_old"}},
            "pricing": {"price_details": {"price": "price_old"}},
        }]}});
        shop.stripe.put("/v1/invoices/in_old", bill);
        for (id, status, customer) in [
            ("sub_old", "active", "cus_9"),
            ("sub_late", "past_due", "cus_8"),
        ] {
            shop.set_subscription(&json!({
                "id": id, "object": "subscription", "customer": customer, "status": status,
                "created": shop.seconds() - 90 * DAY, "latest_invoice": "in_old", "currency": "eur",
                "metadata": {"crm": "42"},
                "items": {"object": "list", "data": [{"price": price, "quantity": 1,
                    "current_period_start": shop.seconds() - DAY,
                    "current_period_end": shop.seconds() + 29 * DAY}]},
            }));
        }
        Self { shop, tier }
    }

    fn admin(&self) -> (Client, String) {
        let service = &self.shop.service;
        let path = format!(
            "/api/admin/v1/projects/{}/provider/subscriptions",
            service.project.id
        );
        (Client::new(&service.base, ADMIN_TOKEN), path)
    }

    async fn adopt(&self, id: &str, price: &str) -> Reply {
        let (admin, path) = self.admin();
        let body = json!({"subscriptionId": id, "priceId": price, "externalUserId": "ann"});
        admin.post(&path, &body).await
    }

    async fn listed(&self) -> Value {
        let (admin, path) = self.admin();
        admin
            .get(&format!("{path}?price=price_old"))
            .await
            .expect(200)
    }
}

#[tokio::test]
async fn a_running_subscription_is_taken_over_once_and_its_cycle_costs_nothing() {
    let moved = RunningSubscription::open().await;
    let listed = moved.listed().await;
    assert_eq!(listed["nextCursor"], Value::Null);
    let of = |listed: &Value, id: &str| {
        let all = listed["subscriptions"].as_array().unwrap().clone();
        all.into_iter().find(|found| found["id"] == id).unwrap()
    };
    let found = of(&listed, "sub_old");
    assert_eq!(
        (&found["customerEmail"], &found["active"], &found["orderId"]),
        (&json!("ann@mail.example"), &json!(true), &Value::Null)
    );
    assert_eq!(found["customerMetadata"]["user"], "ann");
    assert_eq!(of(&listed, "sub_late")["active"], false);

    let adopted = moved.adopt("sub_old", &moved.tier).await.expect(200);
    assert_eq!(adopted["adopted"], true);
    let wallet = moved.shop.wallet("ann").await;
    assert_eq!(wallet["features"], json!(["pro"]));
    assert_eq!(wallet["subscriptions"][0]["status"], "active");
    let ledger = lines(&[(500, "purchase")]);
    assert_eq!(moved.shop.service.ledger("ann").await, ledger);
    let order = moved.shop.order(&adopted["orderId"]).await;
    assert_eq!(
        (&order["amountCents"], &order["status"]),
        (&json!(0), &json!("paid"))
    );
    // The order is written to the provider's object, beside the metadata there.
    let marked = moved
        .shop
        .stripe
        .set("/v1/subscriptions/sub_old", json!({}));
    assert_eq!(marked["metadata"]["crm"], "42");
    assert_eq!(marked["metadata"]["scrip_order_id"], adopted["orderId"]);
    let price = moved.shop.stripe.set("/v1/prices/price_old", json!({}));
    assert_eq!(price["metadata"]["scrip_price_id"], moved.tier.as_str());

    // A second time changes nothing, and neither does an event about the subscription.
    let again = moved.adopt("sub_old", &moved.tier).await.expect(200);
    assert_eq!(
        again,
        json!({"orderId": adopted["orderId"], "adopted": false})
    );
    moved
        .shop
        .change_and_report("customer.subscription.updated", &marked)
        .await;
    assert_eq!(moved.shop.service.ledger("ann").await, ledger);
    assert_eq!(
        of(&moved.listed().await, "sub_old")["orderId"],
        adopted["orderId"]
    );
}

/// Interrupted before the provider's object is changed: the order is placed once, and the next attempt does the
/// rest.
#[tokio::test]
async fn an_adoption_that_was_cut_off_is_finished_by_the_next_one() {
    let moved = RunningSubscription::open().await;
    let stripe = &moved.shop.stripe;
    let write = "POST /v1/subscriptions/sub_old";
    stripe.from_now_on(
        write,
        Override::Status(400, json!({"error": {"message": "no"}})),
    );
    moved.adopt("sub_old", &moved.tier).await.expect(502);
    stripe.as_usual();
    let ledger = lines(&[(500, "purchase")]);
    assert_eq!(moved.shop.service.ledger("ann").await, ledger);
    // Its invoice is reported in between.
    let bill = stripe.set("/v1/invoices/in_old", json!({}));
    moved.shop.report("invoice.paid", &bill).await.expect(200);
    let again = moved.adopt("sub_old", &moved.tier).await.expect(200);
    assert_eq!(again["adopted"], false);
    let marked = stripe.set("/v1/subscriptions/sub_old", json!({}));
    assert_eq!(marked["metadata"]["scrip_order_id"], again["orderId"]);
    moved.shop.report("invoice.paid", &bill).await.expect(200);
    assert_eq!(moved.shop.service.ledger("ann").await, ledger);
}

/// Otherwise a subscriber who pays 19.00 EUR a month would get what costs another amount.
#[tokio::test]
async fn what_is_not_charged_as_our_price_is_not_taken_over_under_it() {
    let moved = RunningSubscription::open().await;
    let list = async || {
        let (admin, path) = moved.admin();
        let path = format!("{path}?price=price_old&priceId={}", moved.tier);
        let listed = admin.get(&path).await.expect(200);
        let all = listed["subscriptions"].as_array().unwrap().clone();
        let found = all.into_iter().find(|found| found["id"] == "sub_old");
        found.unwrap()["mismatch"].clone()
    };
    assert_eq!(list().await, Value::Null);
    let path = "/v1/subscriptions/sub_old";
    let before = moved.shop.stripe.set(path, json!({}));
    for (field, other, reason) in [
        ("/currency", json!("usd"), "1900 USD a month"),
        (
            "/items/data/0/price/unit_amount",
            json!(2900),
            "2900 EUR a month",
        ),
        (
            "/items/data/0/price/recurring/interval",
            json!("year"),
            "1900 EUR a year",
        ),
        (
            "/items/data/0/price/recurring/interval_count",
            json!(3),
            "otherwise",
        ),
        ("/items/data/0/price/unit_amount", Value::Null, "otherwise"),
    ] {
        let mut now = before.clone();
        *now.pointer_mut(field).unwrap() = other;
        moved.shop.set_subscription(&now);
        let mismatch = list().await;
        let words = mismatch.as_str().unwrap();
        assert!(words.starts_with(reason), "{words}");
        assert!(words.contains("this price 1900 EUR a month"), "{words}");
        let refused = moved.adopt("sub_old", &moved.tier).await;
        assert_invalid(&refused, "priceId");
        assert!(refused.body["message"].as_str().unwrap().contains(words));
    }
    let calls = moved.shop.stripe.calls(path);
    assert!(calls.iter().all(|call| call.method == "GET"));
    let (admin, path) = moved.admin();
    let path = format!("{path}?price=price_old&priceId={}", moved.shop.price);
    assert_refused(&admin.get(&path).await, 404, "price_not_found");
}

#[tokio::test]
async fn what_does_not_run_or_is_not_sold_here_is_not_taken_over() {
    let moved = RunningSubscription::open().await;
    let refused = moved.adopt("sub_late", &moved.tier).await;
    assert_refused(&refused, 404, "subscription_not_found");
    let refused = moved.adopt("sub_nobody", &moved.tier).await;
    assert_refused(&refused, 404, "subscription_not_found");
    let once = moved.shop.price.clone();
    assert_refused(&moved.adopt("sub_old", &once).await, 404, "price_not_found");
    assert_invalid(&moved.adopt("", &moved.tier).await, "subscriptionId");
    assert!(
        moved
            .shop
            .stripe
            .calls("/v1/subscriptions/sub_old")
            .is_empty()
    );
}
