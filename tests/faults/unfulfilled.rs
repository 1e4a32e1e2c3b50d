//! A crash between any two steps of a decision about an unfulfilled payment: it is done once, and the books add
//! up.

use domain::id::{OrderId, OrderSerial, PriceId, WalletKey};
use kit::{Client, deadline};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{crash_point, purchases::StripeServer};

impl StripeServer {
    /// A payment of 9.00 for an order and a price that do not exist here.
    async fn pays_unknown_order(&self) {
        let order = OrderId {
            serial: OrderSerial(7),
            wallet: WalletKey([9; 16]),
        };
        let marks = json!({
            "scrip_project_id": self.server.project().id.to_string(),
            "scrip_order_id": order.to_string(),
            "scrip_price_id": PriceId(42).to_string(),
        });
        self.stripe.charged("pi_lost", &marks, 900, 0);
        let session = json!({
            "id": "cs_test_lost", "object": "checkout.session", "status": "complete",
            "payment_status": "paid", "mode": "payment", "currency": "eur", "amount_total": 900,
            "payment_intent": "pi_lost", "customer": "cus_1", "metadata": marks,
        });
        self.stripe
            .put("/v1/checkout/sessions/cs_test_lost", session.clone());
        assert_eq!(self.report(&session).await, Some(200));
    }

    fn unfulfilled(&self, path: &str) -> String {
        let project = &self.server.project().id;
        format!("/api/admin/v1/projects/{project}/unfulfilled-payments{path}")
    }

    /// Status and body of the response; `None`: none came.
    async fn decide(&self, what: &str, body: &Value) -> Option<(u16, Value)> {
        let path = self.unfulfilled(&format!("/pi_lost/{what}"));
        let request = self.server.admin().request(Method::POST, &path).json(body);
        let reply = Client::send(request).await.ok()?;
        Some((reply.status, reply.body))
    }

    /// What the audit log says of the payment, the newest first: in which state, and in which words.
    async fn audited(&self) -> Vec<(String, String)> {
        let path = "/api/admin/v1/audit?query=pi_lost";
        let log = self.server.admin().get(path).await.expect(200);
        let entries = log["entries"].as_array().unwrap().iter();
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
        entries
            .map(|entry| (text(entry, "status"), text(entry, "description")))
            .collect()
    }

    async fn waiting(&self) -> usize {
        let listed = self
            .server
            .admin()
            .get(&self.unfulfilled(""))
            .await
            .expect(200);
        listed["payments"].as_array().unwrap().len()
    }
}

#[tokio::test]
async fn dying_within_an_assignment_makes_one_order_of_it() {
    for place in ["unfulfilled.assigning", "unfulfilled.assigned"] {
        let mut shop = StripeServer::open().await;
        shop.pays_unknown_order().await;
        let to = json!({"priceId": shop.price, "externalUserId": "ann"});
        crash_point::start(&mut shop.server, place).await;
        assert_eq!(shop.decide("assign", &to).await, None, "{place}: it dies");
        crash_point::survive(&mut shop.server).await;
        // The decision need not be repeated.
        deadline::answered("an order", deadline::SOON, async || {
            (shop.waiting().await == 0).then_some(())
        })
        .await;
        // What the crash left open shows in the payment.
        let [(state, what)] = &shop.audited().await[..] else {
            panic!("one entry at {place}: {:?}", shop.audited().await);
        };
        assert_eq!(state, "done", "{place}: {what}");
        assert!(
            what.ends_with("done, which was not known at first"),
            "{what}"
        );
        let (status, order) = shop.decide("assign", &to).await.expect("it lives on");
        assert_eq!((status, &order["status"]), (200, &json!("paid")), "{place}");
        assert_eq!(shop.orders().await.len(), 1, "{place}");
        assert_eq!(shop.server.balance("ann").await.balance, 100, "{place}");
        crash_point::close(shop.server).await;
    }
}

#[tokio::test]
async fn a_crash_within_the_refund_of_an_unfulfilled_payment_refunds_it_once() {
    let mut shop = StripeServer::open().await;
    shop.pays_unknown_order().await;
    crash_point::start(&mut shop.server, "unfulfilled.refunded").await;
    assert_eq!(shop.decide("refund", &json!({})).await, None, "it dies");
    // What the provider does not say is unknown, however often the log is read.
    shop.stripe.away(503);
    crash_point::survive(&mut shop.server).await;
    let unknown = (
        "unknown".to_owned(),
        "Refund unfulfilled payment pi_lost of 9.00 EUR".to_owned(),
    );
    for _ in 0..2 {
        assert_eq!(shop.audited().await, std::slice::from_ref(&unknown));
    }
    shop.stripe.away(0);
    let (status, _) = shop
        .decide("refund", &json!({}))
        .await
        .expect("it lives on");
    assert_eq!(status, 200);
    assert_eq!(shop.refunds_asked(), 1);
    assert_eq!(shop.waiting().await, 0);
    // The second try, which succeeds, answers the outcome of the first.
    let log = shop.audited().await;
    assert!(log.iter().all(|(state, _)| state == "done"), "{log:?}");
    let (_, first) = log.last().unwrap();
    assert!(
        first.ends_with("done, which was not known at first"),
        "{log:?}"
    );
    crash_point::close(shop.server).await;
}
