//! Refunds of an order whose bill was paid in parts: each payment gives back its own.

use reqwest::Method;
use scrip::catalog::SandboxChange;
use serde_json::{Value, json};

use super::{REPLAYED, back, refund};
use crate::{
    client::Reply,
    sandbox_shop::{DAY, HOUR, SandboxShop, orders_of},
    service::{assert_refused, header},
};

/// Ann's second month for 9.00, of which 4.00 and then 5.00 were paid; the order and its payments, with the one of 5.00
/// first, which was begun first.
struct PaidInParts {
    shop: SandboxShop,
    order: String,
    payments: [String; 2],
}

impl PaidInParts {
    async fn open() -> Self {
        let shop = SandboxShop::open().await;
        shop.subscribed("ann").await;
        let there = shop.subscription_there().await;
        let customer = format!("/script/customers/{}", there["customer"].as_str().unwrap());
        shop.ask(Method::POST, &customer, "declines=true").await;
        shop.advance(31 * DAY + 2 * HOUR).await;
        let there = shop.subscription_there().await;
        let invoice = there["latest_invoice"].as_str().unwrap().to_owned();
        let part = format!("/script/invoices/{invoice}/pay_part");
        shop.ask(Method::POST, &part, "amount=400").await;
        shop.ask(Method::POST, &customer, "declines=false").await;
        let rest = format!("/v1/invoices/{invoice}/pay");
        shop.ask(Method::POST, &rest, "").await;
        let order = shop.orders().await.remove(0);
        assert_eq!(
            (&order["kind"], &order["status"], &order["amountCents"]),
            (&json!("renewal"), &json!("paid"), &json!(900)),
        );
        let list = format!("/v1/invoice_payments?invoice={invoice}&status=paid");
        let list = shop.ask(Method::GET, &list, "").await;
        let mut paid: Vec<_> = list["data"].as_array().unwrap().iter().collect();
        paid.sort_by_key(|part| part["created"].as_i64());
        let intent = |part: &Value| part["payment"]["payment_intent"].as_str().unwrap().into();
        Self {
            shop,
            order: order["id"].as_str().unwrap().into(),
            payments: [intent(paid[0]), intent(paid[1])],
        }
    }

    async fn refund(&self, cents: Option<i64>, key: &str) -> Reply {
        let mut body = json!({"idempotencyKey": key});
        if let Some(cents) = cents {
            body["amountCents"] = json!(cents);
        }
        refund(&self.shop.service, &self.order, body).await
    }

    /// What each payment gave back at the provider.
    async fn given(&self) -> [i64; 2] {
        let mut given = [0; 2];
        for (given, payment) in given.iter_mut().zip(&self.payments) {
            let path = format!("/v1/refunds?payment_intent={payment}&limit=100");
            let refunds = self.shop.ask(Method::GET, &path, "").await;
            let taken = refunds["data"].as_array().unwrap().iter();
            let taken = taken.filter(|it| it["status"] != "failed");
            *given = taken.map(|it| it["amount"].as_i64().unwrap()).sum();
        }
        given
    }

    /// Status, refunded cents and balance of the order.
    async fn seen(&self) -> (String, i64, i64) {
        let path = format!("/api/v1/orders/{}", self.order);
        let order = self.shop.service.secret.get(&path).await.expect(200);
        let (status, cents, balance) = back(&order);
        (status.to_owned(), cents, balance)
    }

    /// Refunds at the provider.
    async fn give_there(&self, payment: usize, cents: i64) {
        let form = format!("payment_intent={}&amount={cents}", self.payments[payment]);
        self.shop.ask(Method::POST, "/v1/refunds", &form).await;
    }

    /// The bank withholds some cents of a payment, of which nothing can be refunded until it decides.
    async fn disputed(&self, payment: usize, cents: i64) {
        let form = format!("payment_intent={}&amount={cents}", self.payments[payment]);
        self.shop.ask(Method::POST, "/script/disputes", &form).await;
    }

    /// Delays webhooks for longer than any test.
    async fn delay_webhooks(&self) {
        let late = SandboxChange {
            delay_seconds: Some(7 * DAY),
            ..SandboxChange::default()
        };
        self.shop.set(late).await;
    }
}

#[tokio::test]
async fn a_whole_bill_goes_back_to_each_of_its_payments() {
    let paid = PaidInParts::open().await;
    let refunded = paid.refund(None, "k").await;
    assert_eq!(header(&refunded, REPLAYED), None);
    assert_eq!(back(&refunded.expect(200)), ("refunded", 900, 0));
    assert_eq!(paid.given().await, [500, 400]);
    let again = paid.refund(None, "k").await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    let more = paid.refund(None, "other").await;
    assert_refused(&more, 409, "already_refunded");
    assert_eq!(more.body["refundableCents"], 0);
    paid.shop.advance(DAY).await;
    assert_eq!(paid.seen().await, ("refunded".into(), 900, 0));
}

#[tokio::test]
async fn a_part_and_then_the_rest_go_back_also_beyond_one_payment() {
    let paid = PaidInParts::open().await;
    let much = paid.refund(Some(901), "k").await;
    assert_refused(&much, 409, "already_refunded");
    assert_eq!(much.body["refundableCents"], 900);
    let first = paid.refund(Some(450), "a").await.expect(200);
    assert_eq!(back(&first), ("paid", 450, 250));
    assert_eq!(paid.given().await, [450, 0], "one payment has as much");
    let second = paid.refund(Some(430), "b").await.expect(200);
    assert_eq!(back(&second), ("paid", 880, 12));
    assert_eq!(paid.given().await, [500, 380]);
    let rest = paid.refund(None, "c").await.expect(200);
    assert_eq!(back(&rest), ("refunded", 900, 0));
    assert_eq!(paid.given().await, [500, 400]);
}

#[tokio::test]
async fn what_was_given_back_at_the_provider_is_not_given_again() {
    let paid = PaidInParts::open().await;
    paid.delay_webhooks().await;
    paid.give_there(0, 500).await;
    paid.give_there(1, 100).await;
    let much = paid.refund(Some(301), "k").await;
    assert_refused(&much, 409, "already_refunded");
    assert_eq!(much.body["refundableCents"], 300);
    let rest = paid.refund(None, "k").await.expect(200);
    assert_eq!(back(&rest), ("refunded", 900, 0));
    assert_eq!(paid.given().await, [500, 400]);
}

#[tokio::test]
async fn what_one_payment_gave_stays_given_where_another_refuses() {
    let paid = PaidInParts::open().await;
    // A bank that asks for one cent of it stops all refunds of a payment.
    paid.disputed(1, 1).await;
    for key in ["k", "k", "other"] {
        let refused = paid.refund(None, key).await;
        assert_refused(&refused, 409, "already_refunded");
        assert_eq!(refused.body["refundableCents"], 0);
        let why = refused.body["message"].as_str().unwrap();
        assert!(why.contains("has been charged back"), "{why}");
        assert_eq!(paid.seen().await.1, 500);
        assert_eq!(paid.given().await, [500, 0]);
    }
    let disputes = paid.shop.ask(Method::GET, "/v1/disputes", "").await;
    let dispute = disputes["data"][0]["id"].as_str().unwrap();
    let win = format!("/script/disputes/{dispute}/win");
    paid.shop.ask(Method::POST, &win, "").await;
    paid.shop.advance(60).await;
    let rest = paid.refund(None, "k").await.expect(200);
    assert_eq!(back(&rest), ("refunded", 900, 0));
    assert_eq!(paid.given().await, [500, 400]);
}

#[tokio::test]
async fn an_amount_that_another_payment_has_is_taken_from_that_one() {
    let paid = PaidInParts::open().await;
    paid.disputed(0, 1).await;
    let refused = paid.refund(Some(401), "k").await;
    assert_refused(&refused, 409, "already_refunded");
    assert_eq!(refused.body["refundableCents"], 400);
    assert_eq!(paid.given().await, [0, 0]);
    let refunded = paid.refund(Some(400), "k").await.expect(200);
    assert_eq!(refunded["refundedCents"], 400);
    assert_eq!(paid.given().await, [0, 400]);
}

#[tokio::test]
async fn a_part_that_comes_back_from_the_bank_can_be_refunded_again() {
    let paid = PaidInParts::open().await;
    let charge = format!("/script/charges/{}", paid.payments[0]);
    paid.shop
        .ask(Method::POST, &charge, "refunds=pending")
        .await;
    paid.refund(None, "k").await.expect(200);
    let path = format!("/v1/refunds?payment_intent={}", paid.payments[0]);
    let refunds = paid.shop.ask(Method::GET, &path, "").await;
    let fail = format!(
        "/script/refunds/{}/fail",
        refunds["data"][0]["id"].as_str().unwrap()
    );
    paid.shop
        .ask(Method::POST, &fail, "failure_reason=declined")
        .await;
    paid.shop.advance(DAY).await;
    assert_eq!(paid.seen().await.1, 400);
    let again = paid.refund(None, "other").await.expect(200);
    assert_eq!(again["refundedCents"], 900);
    assert_eq!(paid.given().await, [500, 400]);
}

#[tokio::test]
async fn two_keys_at_once_give_back_no_more_than_all_payments_have() {
    let paid = PaidInParts::open().await;
    let keys = ["a", "b", "c", "d"];
    let all = keys.map(|key| paid.refund(Some(300), key));
    let replies = futures_util::future::join_all(all).await;
    let done = replies.iter().filter(|reply| reply.status == 200).count();
    let given: i64 = paid.given().await.iter().sum();
    assert_eq!(i64::try_from(done).unwrap() * 300, given);
    assert!(given <= 900);
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        assert_refused(reply, 409, "already_refunded");
    }
    assert_eq!(paid.seen().await.1, given);
}

/// Reports of refunds that were made at the provider, part by part, in any order, each twice.
#[tokio::test]
async fn reports_of_parts_add_up_in_any_order() {
    let paid = PaidInParts::open().await;
    paid.delay_webhooks().await;
    let before = paid.shop.undelivered().await.len();
    paid.give_there(1, 400).await;
    paid.give_there(0, 250).await;
    let events = paid.shop.undelivered().await.split_off(before);
    let refund_events: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "charge.refunded")
        .collect();
    assert_eq!(refund_events.len(), 2, "{events:?}");
    paid.shop.deliver([refund_events[0]]).await;
    assert_eq!(paid.seen().await, ("paid".into(), 650, 139));
    for order in orders_of(&refund_events) {
        paid.shop.deliver(order).await;
        assert_eq!(paid.seen().await, ("paid".into(), 650, 139));
    }
    paid.give_there(0, 250).await;
    let last = paid.shop.undelivered().await;
    let last = last
        .iter()
        .rev()
        .find(|event| event["type"] == "charge.refunded");
    paid.shop
        .deliver([last.unwrap(), refund_events[0], refund_events[1]])
        .await;
    assert_eq!(paid.seen().await, ("refunded".into(), 900, 0));
}
