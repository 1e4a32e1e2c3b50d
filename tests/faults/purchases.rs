//! The process dies between any two steps of a checkout and of its fulfilment: the order is fulfilled
//! exactly once, or was never begun, and the books add up. The provider is a double that outlives the
//! process, as the real one does.

use crate::mortal;
use kit::{
    Client, Launch, Server, deadline,
    stripe::{self, Stripe},
};
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) const COMPLETED: &str = "checkout.session.completed";

pub(crate) struct Shop {
    pub(crate) server: Server,
    pub(crate) stripe: Stripe,
    price: String,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        let stripe = Stripe::start().await;
        let launch = Launch::default().env("SCRIP_STRIPE_API_BASE", &stripe.base);
        let server = Server::launch(launch).await;
        server.set_provider(&stripe::provider()).await;
        let price = server.add_price(100).await;
        Self {
            server,
            stripe,
            price,
        }
    }

    /// `None`: no answer came.
    pub(crate) async fn checkout(&self, user: &str) -> Option<Value> {
        let body = json!({"priceId": self.price, "externalUserId": user});
        let client = self.server.client();
        let request = client.request(Method::POST, "/api/v1/checkout").json(&body);
        Some(Client::send(request).await.ok()?.expect(200))
    }

    /// The session that the provider has, paid; `None`: there is none.
    fn paid_session(&self) -> Option<Value> {
        let calls = self.stripe.calls("/v1/checkout/sessions");
        (!calls.is_empty()).then(|| self.stripe.pay("cs_test_1"))
    }

    /// Reports the payment; `None`: no answer came.
    pub(crate) async fn report(&self, session: &Value) -> Option<u16> {
        let (body, header) = stripe::event("evt_1", COMPLETED, session, seconds());
        let path = format!("/webhooks/stripe/{}", self.server.project().id);
        let client = self.server.client();
        let request = client.request(Method::POST, &path);
        let request = request.header("stripe-signature", header).body(body);
        Some(Client::send(request).await.ok()?.status)
    }

    pub(crate) async fn orders(&self) -> Vec<Value> {
        let list = self.server.client().get("/api/v1/orders").await.expect(200);
        list["orders"].as_array().unwrap().clone()
    }

    /// Status and body; `None`: no answer came.
    async fn post(&self, path: &str, body: Value) -> Option<(u16, Value)> {
        let request = self.server.client().request(Method::POST, path).json(&body);
        let reply = Client::send(request).await.ok()?;
        Some((reply.status, reply.body))
    }

    async fn refund(&self, order: &str, key: &str) -> Option<(u16, Value)> {
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

    /// Ann subscribes to a tier, as `sub_1`; its product.
    async fn subscribe(&mut self) -> String {
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
        self.checkout().await.expect("a checkout");
        let session = self.paid_session().expect("a session");
        let now = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_secs();
        let subscription = json!({
            "id": "sub_1", "object": "subscription", "customer": "cus_1", "status": "active",
            "metadata": session["metadata"],
            "items": {"object": "list", "data": [{
                "price": {"id": "price_1", "product": "prod_x", "metadata": {
                    "scrip_price_id": self.price,
                }},
                "current_period_end": now + 30 * 86_400,
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

    async fn has_paid_once(&self, when: &str) {
        let orders = self.orders().await;
        let [order] = orders.as_slice() else {
            panic!("{when}: one order, not {orders:?}")
        };
        assert_eq!(order["status"], "paid", "{when}");
        assert_eq!(self.server.balance("ann").await.balance, 100, "{when}");
        let ledger = "/api/v1/wallets/external/ledger?externalUserId=ann";
        let ledger = self.server.client().get(ledger).await.expect(200);
        assert_eq!(ledger["entries"].as_array().unwrap().len(), 1, "{when}");
    }
}

/// Since 1970, by this machine's clock.
pub(crate) fn seconds() -> i64 {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    now.as_secs() as i64
}

#[tokio::test]
async fn dying_within_a_checkout_loses_no_payment() {
    for place in [
        "checkout.drafted",
        "checkout.session_created",
        "checkout.placed",
    ] {
        let mut shop = Shop::open().await;
        mortal::start(&mut shop.server, place).await;
        assert!(
            shop.checkout("ann").await.is_none(),
            "{place}: it dies before it answers"
        );
        mortal::survive(&mut shop.server).await;
        match shop.paid_session() {
            None => {
                assert_eq!(place, "checkout.drafted");
                assert!(shop.orders().await.is_empty(), "nothing was begun");
                shop.checkout("ann").await.expect("it lives on");
            }
            Some(session) => {
                assert_eq!(shop.report(&session).await, Some(200), "{place}");
                shop.has_paid_once(place).await;
                assert_eq!(shop.report(&session).await, Some(200), "{place}");
                shop.has_paid_once(place).await;
            }
        }
        mortal::close(shop.server).await;
    }
}

#[tokio::test]
async fn dying_within_a_refund_gives_the_money_back_once() {
    for place in ["refund.asked", "refund.given", "refund.noted"] {
        let mut shop = Shop::open().await;
        let begun = shop.checkout().await.expect("a checkout");
        let session = shop.paid_session().expect("a session");
        let marks = session["metadata"].clone();
        shop.stripe.charged("pi_1", &marks, 500, 0);
        assert_eq!(shop.report(&session).await, Some(200));
        let order = begun["orderId"].as_str().unwrap();
        shop.mortal(place).await;
        assert_eq!(shop.refund(order, "k").await, None, "{place}: it dies");
        shop.survive().await;
        // Another one finds what was asked for counted, seen or not.
        let (status, refused) = shop.refund(order, "other").await.expect("it lives on");
        let told = (status, &refused["refundableCents"]);
        assert_eq!(told, (409, &serde_json::json!(200)), "{place}");
        for _ in 0..2 {
            let (status, refunded) = shop.refund(order, "k").await.expect("it lives on");
            assert_eq!(status, 200, "{place}: {refunded}");
        }
        let calls = shop.stripe.calls("/v1/refunds");
        let asked = calls.iter().filter(|call| call.method == Method::POST);
        assert_eq!(asked.count(), 1, "{place}");
        let orders = shop.orders().await;
        assert_eq!(orders[0]["refundedCents"], 300, "{place}");
        shop.close().await;
    }
}

#[tokio::test]
async fn dying_within_a_cancellation_ends_it_all_the_same() {
    for place in [
        "subscription.asked",
        "subscription.told",
        "subscription.noted",
    ] {
        let mut shop = Shop::open().await;
        let product = shop.subscribe().await;
        shop.mortal(place).await;
        assert_eq!(shop.cancel(&product).await, None, "{place}: it dies");
        shop.survive().await;
        let (status, ended) = shop.cancel(&product).await.expect("it lives on");
        assert_eq!(status, 200, "{place}: {ended}");
        let told = &shop.stripe.calls("/v1/subscriptions/sub_1");
        let told = told.iter().filter(|call| call.method == Method::DELETE);
        match place {
            // It was refused a second time, and had ended.
            "subscription.told" => assert_eq!(told.count(), 2, "{place}"),
            _ => assert_eq!(told.count(), 1, "{place}"),
        }
        match place {
            "subscription.noted" => {}
            _ => assert_eq!(ended["status"], "canceled", "{place}"),
        }
        shop.close().await;
    }
}

#[tokio::test]
async fn dying_within_a_fulfilment_fulfils_it_once() {
    for place in ["inbox.received", "inbox.stored", "inbox.worked"] {
        let mut shop = Shop::open().await;
        shop.checkout("ann").await.expect("a checkout");
        let session = shop.paid_session().expect("a session");
        mortal::start(&mut shop.server, place).await;
        assert_eq!(
            shop.report(&session).await,
            None,
            "{place}: it dies before it answers"
        );
        mortal::survive(&mut shop.server).await;
        if place == "inbox.received" {
            // Never acknowledged and not stored: the provider sends it again.
            assert_eq!(shop.orders().await[0]["status"], "pending");
            assert_eq!(shop.report(&session).await, Some(200));
        } else {
            // It is stored: nobody has to send it again.
            deadline::answered("a payment worked off", deadline::SOON, async || {
                let orders = shop.orders().await;
                (orders[0]["status"] == "paid").then_some(())
            })
            .await;
        }
        shop.has_paid_once(place).await;
        assert_eq!(shop.report(&session).await, Some(200), "{place}");
        shop.has_paid_once(place).await;
        mortal::close(shop.server).await;
    }
}
