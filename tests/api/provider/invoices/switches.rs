//! Invoices that settle a switch of tiers with a renewal.

use serde_json::{Value, json};

use super::{DAY, RenewedSubscriber, line};
use crate::service::lines;

/// The invoice lines of a switch to the larger tier, made after two thirds of the former cycle, which waited
/// for the next cycle's invoice.
fn switched_lines(switched: i64, end: i64) -> [Value; 2] {
    [("price_large", 900), ("price_small", -500)].map(|(price, amount)| {
        let mut of = line(price, switched);
        of["id"] = json!(format!("il_carried_{price}"));
        of["amount"] = json!(amount);
        of["period"]["end"] = json!(end);
        of["parent"] = json!({"invoice_item_details": {"proration": true}});
        of
    })
}

impl RenewedSubscriber {
    /// Reports the invoice of a cycle that begins now and that settles a switch of some days before.
    async fn renewed_and_switched(&self, id: &str, days: i64) -> Value {
        let end = self.shop.seconds();
        let [charged, back] = switched_lines(end - days * DAY, end);
        let lines = [charged, back, line("price_large", end)];
        let mut bill = self.bill(id, "subscription_cycle", &lines);
        bill["amount_paid"] = json!(2300);
        self.shop
            .stripe
            .put(&format!("/v1/invoices/{id}"), bill.clone());
        self.paid_by(id, &format!("pi_of_{id}"), 2300);
        self.shop.report("invoice.paid", &bill).await.expect(200);
        bill
    }

    /// Kind, amount, refunded amount and status of each order except the first, by kind: orders of one invoice
    /// have the same instant.
    async fn later_orders(&self) -> Vec<Value> {
        let orders = self.shop.service.secret.get("/api/v1/orders").await;
        let orders = orders.expect(200)["orders"].as_array().unwrap().clone();
        let seen = orders.iter().filter(|order| order["kind"] != "checkout");
        let mut seen: Vec<Value> = seen
            .map(|order| {
                let fields = ["kind", "amountCents", "refundedCents", "status"];
                fields.map(|field| order[field].clone()).into()
            })
            .collect();
        seen.sort_by_key(ToString::to_string);
        seen
    }
}

/// February has 28 days, July and August 31: the value of a cycle's rest depends on its own length.
#[tokio::test]
async fn a_switch_that_waited_is_reckoned_by_the_length_of_the_cycle_that_it_was_made_in() {
    for (began, days) in [("2027-02-18", 28), ("2027-01-18", 31), ("2027-04-18", 30)] {
        let billed = RenewedSubscriber::open().await;
        let began = format!("{began}T00:00:00Z");
        let began: jiff::Timestamp = began.parse().unwrap();
        let until = began.as_second() + days * DAY - billed.shop.seconds();
        billed.shop.service.clock.advance_millis(until * 1000);
        billed.renewed_and_switched("in_2", 10).await;
        let ledger = billed.shop.service.ledger("ann").await;
        let share = |credits: i64| (2 * credits * 10 + days) / (2 * days);
        let expected = [(900, "purchase"), (share(900) - share(500), "purchase")];
        assert_eq!(ledger[ledger.len() - 2..], lines(&expected), "{began}");
    }
}

#[tokio::test]
async fn a_refund_of_a_bill_that_settles_a_switch_is_of_both_orders_by_their_parts() {
    let billed = RenewedSubscriber::open().await;
    billed.renewed_and_switched("in_2", 10).await;
    let before = [
        json!(["renewal", 1900, 0, "paid"]),
        json!(["switch", 400, 0, "paid"]),
    ];
    assert_eq!(billed.later_orders().await, before);
    let place = "/v1/charges/ch_of_pi_of_in_2";
    let now = json!({"created": billed.shop.seconds() - 60, "status": "succeeded"});
    let charge = billed.shop.stripe.set(place, now);
    billed.shop.stripe.put(place, charge);
    let result = billed.shop.reconcile().await;
    assert_eq!(
        (
            &result["firstDifferences"],
            &result["corrected"],
            &result["charges"]
        ),
        (&json!([]), &json!(0), &json!(1)),
        "one charge for two orders"
    );
    for (back, orders) in [
        (230, [[1900, 190], [400, 40]]),
        (2300, [[1900, 1900], [400, 400]]),
    ] {
        let charge = billed
            .shop
            .stripe
            .charged("pi_of_in_2", &json!({}), 2300, back);
        let reply = billed.shop.report("charge.refunded", &charge);
        reply.await.expect(200);
        let status = if back == 2300 { "refunded" } else { "paid" };
        let kinds = ["renewal", "switch"].into_iter().zip(orders);
        let expected: Vec<Value> = kinds
            .map(|(kind, [paid, back])| json!([kind, paid, back, status]))
            .collect();
        assert_eq!(billed.later_orders().await, expected, "{back}");
    }
}

/// A person assigned the whole payment, of a subscription that a restored backup does not have.
#[tokio::test]
async fn a_refund_of_an_assigned_bill_is_not_split_over_the_orders_that_it_would_have_made() {
    let billed = RenewedSubscriber::open().await;
    let shop = &billed.shop;
    let marks = shop.lost();
    let mut subscription = billed.subscription.clone();
    (subscription["id"], subscription["metadata"]) = (json!("sub_lost"), marks.clone());
    shop.set_subscription(&subscription);
    let end = shop.seconds();
    let [charged, back] = switched_lines(end - 10 * DAY, end);
    let lines = [charged, back, line("price_large", end)];
    let mut bill = billed.bill("in_lost", "subscription_cycle", &lines);
    bill["amount_paid"] = json!(2300);
    bill["parent"]["subscription_details"] = json!({"subscription": "sub_lost", "metadata": marks});
    shop.stripe.put("/v1/invoices/in_lost", bill.clone());
    billed.paid_by("in_lost", "pi_of_in_lost", 2300);
    shop.report("invoice.paid", &bill).await.expect(200);
    let to = json!({"priceId": billed.tiers[1], "externalUserId": "bea"});
    let order = shop
        .decide("pi_of_in_lost", "assign", &to)
        .await
        .expect(200);
    for back in [230, 2300] {
        let charge = shop.stripe.charged("pi_of_in_lost", &json!({}), 2300, back);
        let reply = shop.report("charge.refunded", &charge);
        reply.await.expect(200);
        assert_eq!(shop.order(&order["id"]).await["refundedCents"], back);
    }
    assert_eq!(shop.order(&order["id"]).await["status"], "refunded");
}
