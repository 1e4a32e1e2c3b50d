//! A crash between the steps of a subscriber's requests: each is done once, and the books add up.

use kit::{Client, deadline};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    crash_point,
    purchases::{StripeServer, seconds},
};

const DAY: i64 = 86_400;

/// A shop with two tiers.
struct Subscribers {
    shop: StripeServer,
    tier: String,
    larger: String,
}

impl Subscribers {
    async fn open() -> Self {
        let shop = StripeServer::open().await;
        let admin = shop.server.admin();
        let products = format!("{}/products", shop.server.project_path());
        let product = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
        let product = admin.post(&products, &product).await.expect(201);
        let prices = format!("{products}/{}/prices", product["id"].as_str().unwrap());
        let mut tiers = Vec::new();
        for (cents, credits) in [(500, 100), (900, 300)] {
            let tier = json!({
                "amountCents": cents, "currency": "EUR", "creditsGranted": credits,
                "interval": "month",
            });
            let tier = admin.post(&prices, &tier).await.expect(201);
            tiers.push(tier["id"].as_str().unwrap().to_owned());
        }
        let [tier, larger] = tiers.try_into().unwrap();
        Self { shop, tier, larger }
    }

    /// A subscription that has run at the provider for some time, in a cycle that begins now.
    fn runs(&self) {
        let price = json!({
            "id": "price_old", "object": "price", "product": "prod_x", "active": true,
            "currency": "eur", "unit_amount": 500, "metadata": {},
            "recurring": {"interval": "month", "interval_count": 1},
        });
        self.shop.stripe.put("/v1/prices/price_old", price.clone());
        let subscription = json!({
            "id": "sub_1", "object": "subscription", "customer": "cus_1", "status": "active",
            "currency": "eur", "created": seconds() - 60 * DAY, "metadata": {"crm": "42"},
            "items": {"object": "list", "data": [{"price": price, "quantity": 1,
                "current_period_start": seconds(), "current_period_end": seconds() + 30 * DAY}]},
        });
        self.shop
            .stripe
            .put("/v1/subscriptions/sub_1", subscription);
    }

    async fn ledger(&self) -> Vec<i64> {
        let path = "/api/v1/wallets/external/ledger?externalUserId=ann";
        let page = self.shop.server.client().get(path).await;
        let entries = page.body["entries"].as_array().cloned();
        let entries = entries.unwrap_or_default().into_iter().rev();
        entries
            .map(|entry| entry["delta"].as_i64().unwrap())
            .collect()
    }
}

#[tokio::test]
async fn dying_within_an_adoption_takes_it_over_once() {
    let mut all = Subscribers::open().await;
    all.runs();
    let path = format!("{}/provider/subscriptions", all.shop.server.project_path());
    let body = json!({
        "subscriptionId": "sub_1", "priceId": all.tier, "externalUserId": "ann",
    });
    crash_point::start(&mut all.shop.server, "subscription.placed").await;
    let request = all.shop.server.admin().request(Method::POST, &path);
    assert!(Client::send(request.json(&body)).await.is_err(), "it dies");
    crash_point::survive(&mut all.shop.server).await;
    assert_eq!(all.ledger().await, [100], "it is placed");
    for _ in 0..2 {
        let again = all.shop.server.admin().post(&path, &body).await.expect(200);
        assert_eq!(again["adopted"], false);
        let marked = all.shop.stripe.set("/v1/subscriptions/sub_1", json!({}));
        assert_eq!(marked["metadata"]["scrip_order_id"], again["orderId"]);
        let kind = "customer.subscription.updated";
        assert_eq!(
            all.shop.report_event("evt_now", kind, &marked).await,
            Some(200)
        );
        assert_eq!(all.ledger().await, [100]);
    }
    assert_eq!(all.shop.orders().await.len(), 1);
    crash_point::close(all.shop.server).await;
}

impl Subscribers {
    /// A subscription bought a month ago, and reported as paid.
    async fn bought(&self) -> Value {
        let stripe = &self.shop.stripe;
        let body = json!({"priceId": self.tier, "externalUserId": "ann"});
        let client = self.shop.server.client();
        let checkout_page = client.post("/api/v1/checkout", &body).await.expect(200);
        let checkout = checkout_page["checkoutId"].as_str().unwrap();
        let paid = stripe.pay(checkout);
        let end = seconds();
        let subscription = json!({
            "id": "sub_1", "object": "subscription", "customer": paid["customer"], "status": "active",
            "currency": "eur", "billing_cycle_anchor": end, "latest_invoice": null,
            "metadata": paid["metadata"],
            "items": {"object": "list", "data": [{
                "price": self.price("price_small", &self.tier), "quantity": 1,
                "current_period_start": end - 30 * DAY, "current_period_end": end}]},
        });
        stripe.put("/v1/subscriptions/sub_1", subscription.clone());
        let path = format!("/v1/checkout/sessions/{checkout}");
        let session = stripe.set(&path, json!({"subscription": "sub_1"}));
        assert_eq!(self.shop.report(&session).await, Some(200));
        assert_eq!(self.ledger().await, [100]);
        subscription
    }

    fn price(&self, id: &str, ours: &str) -> Value {
        let price = json!({
            "id": id, "object": "price", "product": "prod_x", "active": true, "currency": "eur",
            "recurring": {"interval": "month", "interval_count": 1},
            "metadata": {"scrip_price_id": ours},
        });
        self.shop
            .stripe
            .put(&format!("/v1/prices/{id}"), price.clone());
        price
    }

    /// The invoice of the next cycle, which settles a switch to the larger tier fifteen days before it.
    fn billed(&self, subscription: &Value) -> Value {
        let stripe = &self.shop.stripe;
        self.price("price_large", &self.larger);
        let now = subscription["items"]["data"][0]["current_period_end"].as_i64();
        let now = now.expect("the end of its cycle");
        let cycle =
            json!({"subscription_item_details": {"proration": false, "subscription": "sub_1"}});
        let switch = json!({"invoice_item_details": {"proration": true}});
        let lines = [
            ("price_large", 450, now - 15 * DAY, now, &switch),
            ("price_small", -250, now - 15 * DAY, now, &switch),
            ("price_large", 900, now, now + 30 * DAY, &cycle),
        ];
        let lines = lines.map(|(price, cents, start, end, parent)| {
            json!({
                "id": format!("il_{price}_{cents}"), "amount": cents, "quantity": 1,
                "period": {"start": start, "end": end}, "parent": parent,
                "pricing": {"price_details": {"price": price}},
            })
        });
        let bill = json!({
            "id": "in_2", "object": "invoice", "customer": subscription["customer"],
            "status": "paid", "billing_reason": "subscription_cycle", "amount_paid": 1100,
            "currency": "eur", "created": now,
            "parent": {"subscription_details": {
                "subscription": "sub_1", "metadata": subscription["metadata"],
            }},
            "lines": {"object": "list", "has_more": false, "data": lines},
        });
        stripe.put("/v1/invoices/in_2", bill.clone());
        let payment = json!({
            "id": "inpay_2", "object": "invoice_payment", "invoice": "in_2", "status": "paid",
            "amount_paid": 1100,
            "payment": {"type": "payment_intent", "payment_intent": "pi_2"},
        });
        stripe.put("/v1/invoice_payments/inpay_2", payment);
        stripe.charged("pi_2", &json!({}), 1100, 0);
        bill
    }
}

impl Subscribers {
    /// The invoice of the next cycle, of which 5.00 and 4.00 were paid.
    fn billed_in_parts(&self, subscription: &Value) -> Value {
        let stripe = &self.shop.stripe;
        let mut bill = self.billed(subscription);
        let lines = bill["lines"]["data"].as_array_mut().expect("lines");
        lines.drain(..2);
        bill["amount_paid"] = json!(900);
        stripe.put("/v1/invoices/in_2", bill.clone());
        for (number, cents) in [(2, 500), (3, 400)] {
            let intent = format!("pi_{number}");
            let payment = json!({
                "id": format!("inpay_{number}"), "object": "invoice_payment", "invoice": "in_2",
                "status": "paid", "amount_paid": cents, "created": number,
                "payment": {"type": "payment_intent", "payment_intent": intent},
            });
            stripe.put(&format!("/v1/invoice_payments/inpay_{number}"), payment);
            stripe.charged(&intent, &json!({}), cents, 0);
        }
        bill
    }
}

#[tokio::test]
async fn dying_between_two_parts_of_a_refund_gives_each_back_once() {
    for place in ["refund.before", "refund.given", "refund.noted"] {
        let mut all = Subscribers::open().await;
        let subscription = all.bought().await;
        let bill = all.billed_in_parts(&subscription);
        let reply = all
            .shop
            .report_event("evt_bill", "invoice.paid", &bill)
            .await;
        assert_eq!(reply, Some(200), "{place}");
        let order = all.shop.orders().await[0].clone();
        assert_eq!(order["amountCents"], 900);
        let path = format!(
            "/api/v1/orders/{}/refund",
            order["id"].as_str().expect("an id")
        );
        let body = json!({"idempotencyKey": "k"});
        crash_point::start(&mut all.shop.server, place).await;
        let died = all.shop.post(&path, body.clone()).await;
        assert_eq!(died, None, "{place}: it dies");
        crash_point::survive(&mut all.shop.server).await;
        for _ in 0..2 {
            let (status, refunded) = all
                .shop
                .post(&path, body.clone())
                .await
                .expect("it lives on");
            assert_eq!(status, 200, "{place}: {refunded}");
            assert_eq!(refunded["refundedCents"], 900, "{place}");
        }
        let calls = all.shop.stripe.calls("/v1/refunds").into_iter();
        let calls = calls.filter(|call| call.method == Method::POST);
        let mut given: Vec<_> = calls
            .map(|call| {
                (
                    call.form["payment_intent"].clone(),
                    call.form["amount"].clone(),
                )
            })
            .collect();
        given.sort();
        let expected = [("pi_2", "500"), ("pi_3", "400")];
        assert_eq!(
            given,
            expected.map(|(id, cents)| (id.into(), cents.into())),
            "{place}"
        );
        crash_point::close(all.shop.server).await;
    }
}

/// One invoice makes two orders: that of the cycle, and that of the switch.
#[tokio::test]
async fn dying_between_the_two_orders_of_a_bill_makes_both_once() {
    for place in ["cycle.before", "cycle.after"] {
        let mut all = Subscribers::open().await;
        let subscription = all.bought().await;
        let bill = all.billed(&subscription);
        crash_point::start(&mut all.shop.server, place).await;
        let reply = all
            .shop
            .report_event("evt_bill", "invoice.paid", &bill)
            .await;
        assert_eq!(reply, None, "{place}: it dies before it answers");
        crash_point::survive(&mut all.shop.server).await;
        deadline::answered("both orders", deadline::SOON, async || {
            (all.shop.orders().await.len() == 3).then_some(())
        })
        .await;
        let reply = all
            .shop
            .report_event("evt_again", "invoice.paid", &bill)
            .await;
        assert_eq!(reply, Some(200), "{place}");
        // Half a month of 200 credits more.
        let mut granted = all.ledger().await;
        granted.sort_unstable();
        assert_eq!(granted, [-100, 100, 100, 300], "{place}");
        assert_eq!(all.shop.orders().await.len(), 3, "{place}");
        crash_point::close(all.shop.server).await;
    }
}
