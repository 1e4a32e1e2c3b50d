//! A crash between any two steps of a refund, cancellation or resumption that a caller asks for: it is done
//! once, the caller's key returns its result, and the books add up.

use kit::Client;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    crash_point,
    purchases::{StripeServer, seconds},
};

impl StripeServer {
    /// Status and body of the response; `None`: none came.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Option<(u16, Value)> {
        let request = self.server.client().request(Method::POST, path).json(&body);
        let reply = Client::send(request).await.ok()?;
        Some((reply.status, reply.body))
    }

    /// Ann buys for 5.00 and pays; returns the order.
    pub(crate) async fn sell(&self) -> String {
        let checkout = self.checkout("ann").await.expect("a checkout");
        let session = self.paid_session().expect("a session");
        self.stripe.charged("pi_1", &session["metadata"], 500, 0);
        assert_eq!(self.report(&session).await, Some(200));
        checkout["orderId"].as_str().unwrap().to_owned()
    }

    /// Number of refund requests to the provider.
    pub(crate) fn refunds_asked(&self) -> usize {
        let calls = self.stripe.calls("/v1/refunds");
        calls.iter().filter(|it| it.method == Method::POST).count()
    }

    pub(crate) async fn refund(&self, order: &str, key: &str) -> Option<(u16, Value)> {
        let path = format!("/api/v1/orders/{order}/refund");
        let body = json!({"amountCents": 300, "idempotencyKey": key});
        self.post(&path, body).await
    }

    async fn cancel(&self, product: &str) -> Option<(u16, Value)> {
        let body = json!({
            "externalUserId": "ann", "productId": product, "atPeriodEnd": false,
            "idempotencyKey": "k",
        });
        self.post("/api/v1/subscriptions/cancel", body).await
    }

    /// Ann subscribes to a tier, as `sub_1`; returns its product.
    pub(crate) async fn subscribe(&mut self) -> String {
        let admin = self.server.admin();
        let products = format!(
            "/api/admin/v1/projects/{}/products",
            self.server.project().id
        );
        let plan = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
        let plan = admin.post(&products, &plan).await.expect(201);
        let plan = plan["id"].as_str().unwrap().to_owned();
        let tier = json!({
            "amountCents": 500, "currency": "EUR", "creditsGranted": 100, "interval": "month",
        });
        let prices = format!("{products}/{plan}/prices");
        let tier = admin.post(&prices, &tier).await.expect(201);
        self.price = tier["id"].as_str().unwrap().to_owned();
        self.checkout("ann").await.expect("a checkout");
        let session = self.paid_session().expect("a session");
        let subscription = json!({
            "id": "sub_1", "object": "subscription", "customer": "cus_1", "status": "active",
            "metadata": session["metadata"],
            "items": {"object": "list", "data": [{
                "price": {"id": "price_1", "product": "prod_x", "metadata": {
                    "scrip_price_id": self.price,
                }},
                "current_period_end": seconds() + 30 * 86_400,
            }]},
        });
        self.stripe.put("/v1/subscriptions/sub_1", subscription);
        let fields = json!({
            "subscription": "sub_1", "invoice": "in_1", "payment_intent": null,
            "amount_total": 500,
        });
        let session = self.stripe.set("/v1/checkout/sessions/cs_test_1", fields);
        assert_eq!(self.report(&session).await, Some(200));
        plan
    }
}

#[tokio::test]
async fn dying_within_a_refund_gives_the_money_back_once() {
    for place in ["refund.before", "refund.given", "refund.noted"] {
        let mut shop = StripeServer::open().await;
        let order = &shop.sell().await;
        crash_point::start(&mut shop.server, place).await;
        assert_eq!(shop.refund(order, "k").await, None, "{place}: it dies");
        crash_point::survive(&mut shop.server).await;
        // Another refund finds the first one counted, whether the payment shows it or not.
        let (status, refused) = shop.refund(order, "other").await.expect("it lives on");
        let refusal = (status, &refused["refundableCents"]);
        assert_eq!(refusal, (409, &serde_json::json!(200)), "{place}");
        for _ in 0..2 {
            let (status, refunded) = shop.refund(order, "k").await.expect("it lives on");
            assert_eq!(status, 200, "{place}: {refunded}");
            assert_eq!(refunded["refundedCents"], 300, "{place}");
        }
        assert_eq!(shop.refunds_asked(), 1, "{place}");
        let orders = shop.orders().await;
        assert_eq!(orders[0]["refundedCents"], 300, "{place}");
        crash_point::close(shop.server).await;
    }
}

#[tokio::test]
async fn dying_within_a_cancellation_ends_it_all_the_same() {
    for place in [
        "subscription.before",
        "subscription.after",
        "subscription.noted",
    ] {
        let mut shop = StripeServer::open().await;
        let product = shop.subscribe().await;
        crash_point::start(&mut shop.server, place).await;
        assert_eq!(shop.cancel(&product).await, None, "{place}: it dies");
        crash_point::survive(&mut shop.server).await;
        let (status, ended) = shop.cancel(&product).await.expect("it lives on");
        assert_eq!(status, 200, "{place}: {ended}");
        let deletions = &shop.stripe.calls("/v1/subscriptions/sub_1");
        let deletions = deletions
            .iter()
            .filter(|call| call.method == Method::DELETE);
        match place {
            // It was refused a second time, as it had ended.
            "subscription.after" => assert_eq!(deletions.count(), 2, "{place}"),
            _ => assert_eq!(deletions.count(), 1, "{place}"),
        }
        assert_eq!(ended["status"], "canceled", "{place}");
        crash_point::close(shop.server).await;
    }
}
