//! Invoices of subscriptions on a real account: lines of other products, several payments, replaced
//! metadata. And how many requests each needs.

mod first_debit;
mod switches;
mod unclear;

use domain::catalog::Interval;
use serde_json::{Value, json};

use crate::{service::lines, stripe_shop::StripeShop};

const DAY: i64 = 86_400;
const MONTH: i64 = 30 * DAY;

/// A subscriber to a tier of 500 credits for 19.00, in the second cycle.
struct RenewedSubscriber {
    shop: StripeShop,
    /// The tier, and one with 900 credits.
    tiers: [String; 2],
    order: Value,
    subscription: Value,
}

/// An invoice line for this price, which pays for the current cycle.
fn line(price: &str, start: i64) -> Value {
    json!({
        "id": format!("il_{price}"), "amount": 1900, "quantity": 1,
        "period": {"start": start, "end": start + MONTH},
        "parent": {"subscription_item_details": {"proration": false, "subscription": "sub_1"}},
        "pricing": {"price_details": {"price": price}},
    })
}

/// An invoice line for another product.
fn other(number: i64) -> Value {
    json!({
        "id": format!("il_other_{number}"), "amount": 5, "quantity": 1,
        "period": {"start": 1, "end": 2},
        "parent": {"invoice_item_details": {"proration": false}},
        "pricing": {"price_details": {"price": "price_of_something_else"}},
    })
}

impl RenewedSubscriber {
    async fn open() -> Self {
        let shop = StripeShop::open().await;
        let tier = shop.add_tier(500).await;
        let product = shop.product_of(&tier);
        let features = ["pro", "max"];
        let larger = shop.add_price_of(product, Interval::Month, 900, &features);
        let tiers = [tier, larger.await];
        for (id, ours) in [("price_small", &tiers[0]), ("price_large", &tiers[1])] {
            shop.stripe
                .put(&format!("/v1/prices/{id}"), price(id, ours));
        }
        let nothing = json!({"id": "price_of_something_else", "product": "prod_y", "active": true,
            "currency": "eur", "metadata": {}});
        shop.stripe
            .put("/v1/prices/price_of_something_else", nothing);
        let checkout = shop.open_checkout_of("ann", &tiers[0]).await;
        let subscription = shop.subscribe(&checkout, "sub_1").await;
        shop.service.clock.advance_millis(MONTH * 1000);
        Self {
            shop,
            tiers,
            order: checkout["orderId"].clone(),
            subscription,
        }
    }

    /// Puts an invoice of the subscription and its payments into the account.
    fn bill(&self, id: &str, reason: &str, lines: &[Value]) -> Value {
        let bill = json!({
            "id": id, "object": "invoice", "customer": "cus_1", "status": "paid",
            "billing_reason": reason, "amount_paid": 1900, "currency": "eur",
            "created": self.shop.seconds(),
            "parent": {"subscription_details": {
                "subscription": "sub_1", "metadata": self.subscription["metadata"],
            }},
            "lines": {"object": "list", "has_more": false, "data": lines},
        });
        self.shop
            .stripe
            .put(&format!("/v1/invoices/{id}"), bill.clone());
        self.paid_by(id, &format!("pi_of_{id}"), 1900);
        bill
    }

    /// Adds a payment that paid an invoice.
    fn paid_by(&self, invoice: &str, payment: &str, cents: i64) {
        let object = json!({
            "id": format!("inpay_{payment}"), "object": "invoice_payment", "invoice": invoice,
            "status": "paid", "amount_paid": cents,
            "payment": {"type": "payment_intent", "payment_intent": payment},
        });
        self.shop
            .stripe
            .put(&format!("/v1/invoice_payments/inpay_{payment}"), object);
        self.shop.stripe.charged(payment, &json!({}), cents, 0);
    }

    /// Reports the paid invoice of the current cycle.
    async fn renewed(&self, lines: &[Value]) {
        let bill = self.bill("in_2", "subscription_cycle", lines);
        self.shop.report("invoice.paid", &bill).await.expect(200);
    }

    /// The newest order.
    async fn newest(&self) -> Value {
        let orders = self.shop.service.secret.get("/api/v1/orders").await;
        orders.expect(200)["orders"][0].clone()
    }

    /// Changes fields of the subscription, and reports it.
    async fn update(&mut self, fields: Value) {
        for (name, value) in fields.as_object().unwrap() {
            self.subscription[name] = value.clone();
        }
        let kind = "customer.subscription.updated";
        self.shop.change_and_report(kind, &self.subscription).await;
    }

    fn small(&self) -> Value {
        line("price_small", self.shop.seconds())
    }
}

fn price(id: &str, ours: &str) -> Value {
    json!({
        "id": id, "product": "prod_x", "active": true, "currency": "eur",
        "metadata": {"scrip_price_id": ours},
    })
}

fn item(id: &str, ours: Option<&str>, end: i64) -> Value {
    let mut price = price(id, ours.unwrap_or_default());
    if ours.is_none() {
        price["metadata"] = json!({});
    }
    json!({
        "id": format!("si_{id}"), "quantity": 1, "price": price,
        "current_period_start": end - MONTH, "current_period_end": end,
    })
}

#[tokio::test]
async fn a_bill_of_many_lines_is_read_to_its_end() {
    let billed = RenewedSubscriber::open().await;
    let mut all: Vec<Value> = (0..130).map(other).collect();
    all.push(billed.small());
    billed.renewed(&all).await;
    let expected = [(500, "purchase"), (-500, "expiry"), (500, "purchase")];
    assert_eq!(billed.shop.service.ledger("ann").await, lines(&expected));
    let newest = billed.newest().await;
    assert_eq!(newest["kind"], "renewal");
    assert_eq!(newest["payment"]["paymentId"], "pi_of_in_2");
}

#[tokio::test]
async fn another_item_on_a_subscription_changes_nothing_about_ours() {
    let mut billed = RenewedSubscriber::open().await;
    let end = billed.shop.seconds() + MONTH;
    // Switched to the larger tier; then seats were added, billed by the year.
    let larger = billed.tiers[1].clone();
    let mut seats = item("price_of_something_else", None, end + 11 * MONTH);
    seats["current_period_start"] = json!(end - MONTH);
    let items = json!({"object": "list", "data": [seats, item("price_large", Some(&larger), end)]});
    let start = billed.shop.seconds();
    let mut of_seats = line("price_of_something_else", start);
    of_seats["period"]["end"] = json!(end + 11 * MONTH);
    billed
        .renewed(&[of_seats, line("price_large", start)])
        .await;
    billed.update(json!({"items": items})).await;
    let wallet = billed.shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], 900);
    assert_eq!(wallet["features"], json!(["max", "pro"]));
    let period = wallet["subscriptions"][0]["currentPeriodEnd"].as_str();
    let period: jiff::Timestamp = period.unwrap().parse().unwrap();
    assert_eq!(period.as_second(), end, "ours, not the other's");
    assert_eq!(billed.newest().await["priceId"], json!(larger));
}

#[tokio::test]
async fn a_bill_under_no_price_of_ours_pays_the_tier_in_force() {
    let mut billed = RenewedSubscriber::open().await;
    billed
        .renewed(&[line("price_large", billed.shop.seconds())])
        .await;
    billed.shop.service.clock.advance_millis(MONTH * 1000);
    // A price was created at the provider just for this customer.
    let unknown = line("price_of_something_else", billed.shop.seconds());
    let bill = billed.bill("in_3", "subscription_cycle", &[unknown]);
    billed.shop.report("invoice.paid", &bill).await.expect(200);
    let wallet = billed.shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], 900);
    assert_eq!(billed.newest().await["priceId"], json!(billed.tiers[1]));
    billed.update(json!({})).await;
    assert_eq!(
        billed.shop.wallet("ann").await["features"],
        json!(["max", "pro"])
    );
}

#[tokio::test]
async fn seats_are_granted_as_they_are_paid() {
    let billed = RenewedSubscriber::open().await;
    let mut three = billed.small();
    three["quantity"] = json!(3);
    billed.renewed(&[three]).await;
    let wallet = billed.shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], 1500);
    assert_eq!(billed.newest().await["quantity"], 3);
}

#[tokio::test]
async fn a_bill_that_is_paid_after_the_end_lasts_for_its_own_period() {
    let mut billed = RenewedSubscriber::open().await;
    let end = billed.shop.seconds();
    billed
        .update(json!({"status": "canceled", "ended_at": end + DAY}))
        .await;
    let mut bill = billed.bill("in_2", "subscription_cycle", &[line("price_small", end)]);
    bill["status_transitions"] = json!({"paid_at": end + 2 * DAY});
    billed.shop.stripe.put("/v1/invoices/in_2", bill.clone());
    billed.shop.report("invoice.paid", &bill).await.expect(200);
    let wallet = billed.shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], 500);
    assert_eq!(wallet["subscriptions"], json!([]));
    assert_eq!(wallet["features"], json!([]));
    billed.shop.service.clock.advance_millis(MONTH * 1000);
    let wallet = billed.shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], 0, "the period is over");
}

#[tokio::test]
async fn a_bill_that_several_payments_paid_is_refunded_as_they_are() {
    let billed = RenewedSubscriber::open().await;
    billed.bill("in_2", "subscription_cycle", &[billed.small()]);
    billed.paid_by("in_2", "pi_of_in_2", 1000);
    billed.paid_by("in_2", "pi_second", 900);
    let id = json!({"id": "in_2"});
    let bill = billed.shop.stripe.set("/v1/invoices/in_2", id);
    billed.shop.report("invoice.paid", &bill).await.expect(200);
    let order = billed.newest().await["id"].clone();
    for (payment, cents, refunded, status) in [
        ("pi_of_in_2", 1000, 1000, "paid"),
        ("pi_second", 900, 1900, "refunded"),
    ] {
        let charge = billed
            .shop
            .stripe
            .charged(payment, &json!({}), cents, cents);
        let reply = billed.shop.report("charge.refunded", &charge);
        reply.await.expect(200);
        let order = billed.shop.order(&order).await;
        assert_eq!(order["refundedCents"], refunded, "{payment}");
        assert_eq!(order["status"], status, "{payment}");
    }
    assert_eq!(billed.shop.wallet("ann").await["features"], json!([]));
}

#[tokio::test]
async fn a_dispute_in_another_currency_concerns_the_remaining_amount() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
    let marks = json!({
        "scrip_project_id": shop.service.project.id.to_string(),
        "scrip_order_id": checkout["orderId"],
    });
    let charge = shop.stripe.charged("pi_1", &marks, 500, 100);
    shop.report("charge.refunded", &charge).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
    // 43.00 in another currency, for the 4.00 that are left.
    let dispute = json!({
        "id": "du_1", "object": "dispute", "status": "lost", "amount": 4300, "currency": "sek",
        "charge": "ch_of_pi_1", "payment_intent": "pi_1",
    });
    shop.stripe.put("/v1/disputes/du_1", dispute.clone());
    let reply = shop.report("charge.dispute.closed", &dispute);
    reply.await.expect(200);
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(order["status"], "refunded");
    assert_eq!(order["balance"], 0);
}

#[tokio::test]
async fn a_subscription_whose_metadata_was_replaced_is_still_ours() {
    let mut billed = RenewedSubscriber::open().await;
    billed.shop.service.handle.fold_all().await.unwrap();
    billed.subscription["metadata"] = json!({"crm_id": "42"});
    billed.shop.set_subscription(&billed.subscription);
    billed.renewed(&[billed.small()]).await;
    let expected = [(500, "purchase"), (-500, "expiry"), (500, "purchase")];
    assert_eq!(billed.shop.service.ledger("ann").await, lines(&expected));
    let back = billed.shop.stripe.calls("/v1/subscriptions/sub_1");
    let back = back.iter().find(|call| call.method == "POST").unwrap();
    let project = billed.shop.service.project.id.to_string();
    assert_eq!(back.form["metadata[scrip_project_id]"], project);
    let order = billed.order.as_str().unwrap();
    assert_eq!(back.form["metadata[scrip_order_id]"], order);
    // A refund of it, too, has none of our metadata.
    let charge = billed
        .shop
        .stripe
        .charged("pi_of_in_2", &json!({}), 1900, 1900);
    let reply = billed.shop.report("charge.refunded", &charge);
    reply.await.expect(200);
    assert_eq!(billed.newest().await["status"], "refunded");
    billed.update(json!({"status": "canceled"})).await;
    let wallet = billed.shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"], json!([]));
    assert_eq!(wallet["features"], json!([]));
}

#[tokio::test]
async fn a_renewal_is_asked_about_four_times_and_a_purchase_once() {
    let mut billed = RenewedSubscriber::open().await;
    let reads = |shop: &StripeShop| shop.stripe.reads();
    let bill = billed.bill("in_2", "subscription_cycle", &[billed.small()]);
    let end = billed.shop.seconds() + MONTH;
    let small = billed.tiers[0].clone();
    let items = json!({"object": "list", "data": [item("price_small", Some(&small), end)]});
    billed.subscription["items"] = items;
    billed.subscription["latest_invoice"] = json!("in_2");
    let before = reads(&billed.shop);
    billed.update(json!({})).await;
    billed.shop.report("invoice.paid", &bill).await.expect(200);
    let renewal = reads(&billed.shop) - before;
    assert!(renewal <= 4, "{renewal} reads for a renewal");
    assert_eq!(billed.newest().await["kind"], "renewal");

    let shop = &billed.shop;
    let charge = shop.stripe.charged("pi_of_in_2", &json!({}), 1900, 1900);
    let before = reads(shop);
    shop.report("charge.refunded", &charge).await.expect(200);
    let refund = reads(shop) - before;
    assert!(refund <= 3, "{refund} reads for a refund of a bill");
    assert_eq!(billed.newest().await["status"], "refunded");

    let checkout = shop.open_checkout("bea").await;
    let marks = json!({
        "scrip_project_id": shop.service.project.id.to_string(),
        "scrip_order_id": checkout["orderId"],
    });
    let before = reads(shop);
    let session = shop.pay(&checkout).await;
    let purchase = reads(shop) - before;
    assert!(purchase <= 2, "{purchase} reads for a purchase");
    let payment = session["payment_intent"].as_str().unwrap();
    let charge = shop.stripe.charged(payment, &marks, 500, 500);
    let before = reads(shop);
    shop.report("charge.refunded", &charge).await.expect(200);
    let refund = reads(shop) - before;
    assert!(refund <= 2, "{refund} reads for a refund");
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "refunded");
}

#[tokio::test]
async fn a_paid_bill_that_says_nothing_is_not_forgotten() {
    let billed = RenewedSubscriber::open().await;
    billed.renewed(&[other(1)]).await;
    let expected = [(500, "purchase")];
    assert_eq!(billed.shop.service.ledger("ann").await, lines(&expected));
    let listed = billed.shop.unfulfilled().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["reason"], "unclear_bill");
}
