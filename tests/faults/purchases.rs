//! A crash between any two steps of a checkout and of its fulfilment: the order is fulfilled exactly once, or
//! was never begun, and the books add up. The provider is a double that outlives the process and behaves like a
//! real one.

use crate::crash_point;
use kit::{
    Client, Launch, Server, deadline,
    stripe::{self, FaultProfile, Stripe},
};
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) const COMPLETED: &str = "checkout.session.completed";

/// A server whose project uses the double of Stripe, and a price to buy.
pub(crate) struct StripeServer {
    pub(crate) server: Server,
    pub(crate) stripe: Stripe,
    pub(crate) price: String,
}

impl StripeServer {
    pub(crate) async fn open() -> Self {
        let stripe = Stripe::start().await;
        stripe.set_faults(FaultProfile::as_stripe());
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

    /// The response's body; `None`: no response came.
    pub(crate) async fn checkout(&self, user: &str) -> Option<Value> {
        let body = json!({"priceId": self.price, "externalUserId": user});
        let client = self.server.client();
        let request = client.request(Method::POST, "/api/v1/checkout").json(&body);
        Some(Client::send(request).await.ok()?.expect(200))
    }

    /// Pays the provider's only session and returns it; `None`: there is none.
    pub(crate) fn paid_session(&self) -> Option<Value> {
        let calls = self.stripe.calls("/v1/checkout/sessions");
        (!calls.is_empty()).then(|| self.stripe.pay("cs_test_1"))
    }

    /// Reports the payment; returns the status, `None`: no response came.
    pub(crate) async fn report(&self, session: &Value) -> Option<u16> {
        self.report_event("evt_1", COMPLETED, session).await
    }

    /// Reports any event; returns the status, `None`: no response came.
    pub(crate) async fn report_event(
        &self,
        event: &str,
        kind: &str,
        object: &Value,
    ) -> Option<u16> {
        let (body, header) = self.stripe.event(event, kind, object, seconds());
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

/// Seconds since the Unix epoch, by this machine's clock.
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
        let mut shop = StripeServer::open().await;
        crash_point::start(&mut shop.server, place).await;
        assert!(
            shop.checkout("ann").await.is_none(),
            "{place}: it dies before it answers"
        );
        crash_point::survive(&mut shop.server).await;
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
        crash_point::close(shop.server).await;
    }
}

#[tokio::test]
async fn dying_within_a_fulfilment_fulfils_it_once() {
    for place in ["inbox.received", "inbox.stored", "inbox.worked"] {
        let mut shop = StripeServer::open().await;
        shop.checkout("ann").await.expect("a checkout");
        let session = shop.paid_session().expect("a session");
        crash_point::start(&mut shop.server, place).await;
        assert_eq!(
            shop.report(&session).await,
            None,
            "{place}: it dies before it answers"
        );
        crash_point::survive(&mut shop.server).await;
        if place == "inbox.received" {
            // Neither acknowledged nor stored: the provider sends it again.
            assert_eq!(shop.orders().await[0]["status"], "pending");
            assert_eq!(shop.report(&session).await, Some(200));
        } else {
            // It is stored: it need not be sent again.
            deadline::answered("a payment worked off", deadline::SOON, async || {
                let orders = shop.orders().await;
                (orders[0]["status"] == "paid").then_some(())
            })
            .await;
        }
        shop.has_paid_once(place).await;
        assert_eq!(shop.report(&session).await, Some(200), "{place}");
        shop.has_paid_once(place).await;
        crash_point::close(shop.server).await;
    }
}
