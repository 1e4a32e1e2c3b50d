//! The process dies between any two steps of a checkout and of its fulfilment: the order is fulfilled
//! exactly once, or was never begun, and the books add up. The provider is a double that outlives the
//! process, as the real one does.

use kit::{
    Client, Launch, Server, deadline,
    stripe::{self, Stripe},
};
use reqwest::Method;
use serde_json::{Value, json};

/// Where the process is told to die.
const DIE_AT: &str = "SCRIP_DIE_AT";
const COMPLETED: &str = "checkout.session.completed";

struct Shop {
    server: Server,
    stripe: Stripe,
    price: String,
    launch: Launch,
}

impl Shop {
    async fn open() -> Self {
        let stripe = Stripe::start().await;
        let launch = Launch::default().env("SCRIP_STRIPE_API_BASE", &stripe.base);
        let server = Server::launch(launch.clone()).await;
        let admin = server.admin();
        let project = format!("/api/admin/v1/projects/{}", server.project().id);
        let provider = json!({"provider": {
            "kind": "stripe", "secretKey": stripe::SECRET_KEY, "webhookSecret": stripe::WEBHOOK_SECRET,
        }});
        let patch = admin.request(Method::PATCH, &project).json(&provider);
        Client::send(patch).await.unwrap().expect(200);
        let prices = format!("{project}/products/{}/prices", server.product());
        let price = json!({
            "amountCents": 500, "currency": "EUR", "creditsGranted": 100, "interval": "one_time",
        });
        let price = admin.post(&prices, &price).await.expect(201);
        let price = price["id"].as_str().unwrap().to_owned();
        Self {
            server,
            stripe,
            price,
            launch,
        }
    }

    /// Starts again, to die at this place.
    async fn mortal(&mut self, place: &str) {
        let status = self.server.terminate().await;
        assert!(status.success(), "{status}");
        let mortal = self.launch.clone().env(DIE_AT, place);
        self.server.start_as(&mortal).await;
    }

    /// Waits for the end that was ordered, and starts again.
    async fn survive(&mut self) {
        let status = self.server.instance_mut().wait().await;
        assert!(!status.success(), "it was to die, not to end with {status}");
        self.server.crash().await;
        self.server.verify();
        self.server.start_again().await;
    }

    /// `None`: no answer came.
    async fn checkout(&self) -> Option<Value> {
        let body = json!({"priceId": self.price, "externalUserId": "ann"});
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
    async fn report(&self, session: &Value) -> Option<u16> {
        let now = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_secs();
        let (body, header) = stripe::event("evt_1", COMPLETED, session, now as i64);
        let path = format!("/webhooks/stripe/{}", self.server.project().id);
        let client = self.server.client();
        let request = client.request(Method::POST, &path);
        let request = request.header("stripe-signature", header).body(body);
        Some(Client::send(request).await.ok()?.status)
    }

    async fn orders(&self) -> Vec<Value> {
        let list = self.server.client().get("/api/v1/orders").await.expect(200);
        list["orders"].as_array().unwrap().clone()
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

    async fn close(mut self) {
        let status = self.server.terminate().await;
        assert!(status.success(), "{status}");
        self.server.verify();
    }
}

#[tokio::test]
async fn dying_within_a_checkout_loses_no_payment() {
    for place in [
        "checkout.drafted",
        "checkout.session_created",
        "checkout.placed",
    ] {
        let mut shop = Shop::open().await;
        shop.mortal(place).await;
        assert!(
            shop.checkout().await.is_none(),
            "{place}: it dies before it answers"
        );
        shop.survive().await;
        match shop.paid_session() {
            None => {
                assert_eq!(place, "checkout.drafted");
                assert!(shop.orders().await.is_empty(), "nothing was begun");
                shop.checkout().await.expect("it lives on");
            }
            Some(session) => {
                assert_eq!(shop.report(&session).await, Some(200), "{place}");
                shop.has_paid_once(place).await;
                assert_eq!(shop.report(&session).await, Some(200), "{place}");
                shop.has_paid_once(place).await;
            }
        }
        shop.close().await;
    }
}

#[tokio::test]
async fn dying_within_a_fulfilment_fulfils_it_once() {
    for place in ["inbox.received", "inbox.stored", "inbox.worked"] {
        let mut shop = Shop::open().await;
        shop.checkout().await.expect("a checkout");
        let session = shop.paid_session().expect("a session");
        shop.mortal(place).await;
        assert_eq!(
            shop.report(&session).await,
            None,
            "{place}: it dies before it answers"
        );
        shop.survive().await;
        if place == "inbox.received" {
            // Never acknowledged and not stored: the provider sends it again.
            assert_eq!(shop.orders().await[0]["status"], "pending");
            assert_eq!(shop.report(&session).await, Some(200));
        } else {
            // It is stored: nobody has to send it again.
            let end = std::time::Instant::now() + deadline::SOON;
            while shop.orders().await[0]["status"] != "paid" {
                assert!(std::time::Instant::now() < end, "{place}: never worked off");
            }
        }
        shop.has_paid_once(place).await;
        assert_eq!(shop.report(&session).await, Some(200), "{place}");
        shop.has_paid_once(place).await;
        shop.close().await;
    }
}
