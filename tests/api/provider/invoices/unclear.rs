//! Paid bills that do not say what they are for, above all those that were paid in parts: a decision is about all.

use serde_json::{Value, json};

use super::{RenewedSubscriber, other};
use crate::service::assert_refused;

impl RenewedSubscriber {
    /// A paid bill of 19.00 that says nothing, of which 7.00 and then 12.00 were paid.
    fn paid_in_parts(&self, reason: &str) -> Value {
        let bill = self.bill("in_2", reason, &[other(1)]);
        self.paid_by("in_2", "pi_of_in_2", 700);
        self.paid_by("in_2", "pi_rest", 1200);
        for (payment, created) in [("pi_of_in_2", 1), ("pi_rest", 2)] {
            let path = format!("/v1/invoice_payments/inpay_{payment}");
            self.shop.stripe.set(&path, json!({"created": created}));
        }
        bill
    }

    /// Reports such a bill.
    async fn unclear(&self) -> Value {
        let bill = self.paid_in_parts("subscription_cycle");
        self.shop.report("invoice.paid", &bill).await.expect(200);
        let listed = self.shop.unfulfilled().await;
        let [kept] = &*listed else {
            panic!("one waits: {listed:?}")
        };
        for (name, value) in [
            ("reason", "unclear_bill".into()),
            ("paymentId", "pi_rest".into()),
            ("amountCents", json!(1900)),
        ] {
            assert_eq!(kept[name], value, "{name}");
        }
        bill
    }

    /// The refunds that were asked for, by payment and amount.
    fn asked(&self) -> Vec<(String, String)> {
        let calls = self.shop.stripe.calls("/v1/refunds");
        let asked = calls.iter().filter(|call| call.method == "POST");
        asked
            .map(|call| {
                (
                    call.form["payment_intent"].clone(),
                    call.form["amount"].clone(),
                )
            })
            .collect()
    }

    /// Has the charges of the bill's payments found in the provider's list.
    async fn reconcile(&self) -> Value {
        let shop = &self.shop;
        let created = json!({"created": shop.seconds() - 60, "customer": "cus_1"});
        for payment in ["pi_of_in_2", "pi_rest"] {
            let charge = format!("/v1/charges/ch_of_{payment}");
            shop.stripe.set(&charge, created.clone());
        }
        shop.reconcile().await
    }

    /// So much of a payment was refunded at the provider, which reports it.
    async fn gave_back(&self, payment: &str, cents: i64, all: i64) {
        let charge = self.shop.stripe.charged(payment, &json!({}), all, cents);
        self.shop.service.clock.advance_millis(1000);
        let reply = self.shop.report("charge.refunded", &charge);
        reply.await.expect(200);
    }
}

fn refunds(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let all = all.iter();
    all.map(|(payment, cents)| ((*payment).to_owned(), (*cents).to_owned()))
        .collect()
}

#[tokio::test]
async fn all_payments_of_a_bill_are_given_back() {
    let billed = RenewedSubscriber::open().await;
    let bill = billed.unclear().await;
    for _ in 0..2 {
        let decision = billed.shop.decide("pi_of_in_2", "refund", &json!({})).await;
        assert_eq!(decision.expect(200)["amountCents"], 1900);
    }
    let both = [("pi_of_in_2", "700"), ("pi_rest", "1200")];
    assert_eq!(billed.asked(), refunds(&both));
    billed.gave_back("pi_of_in_2", 700, 700).await;
    billed.gave_back("pi_rest", 1200, 1200).await;
    let reply = billed.shop.report("invoice.paid", &bill);
    reply.await.expect(200);
    assert_eq!(billed.shop.unfulfilled().await, [] as [Value; 0]);
    // The bank sends one part back.
    billed.gave_back("pi_rest", 0, 1200).await;
    let shop = &billed.shop;
    assert_eq!(shop.unfulfilled().await.len(), 1, "it waits again");
    let decision = shop.decide("pi_of_in_2", "refund", &json!({})).await;
    assert_eq!(decision.expect(200)["id"], "pi_rest");
    let all = [both[0], both[1], both[1]];
    assert_eq!(billed.asked(), refunds(&all));
}

#[tokio::test]
async fn it_waits_until_each_payment_gave_back_its_part() {
    let billed = RenewedSubscriber::open().await;
    billed.unclear().await;
    billed.gave_back("pi_rest", 1200, 1200).await;
    let shop = &billed.shop;
    assert_eq!(shop.unfulfilled().await.len(), 1, "700 are left");
    // A bank asks for one cent of the other.
    let dispute = json!({
        "id": "du_1", "object": "dispute", "status": "needs_response", "amount": 1, "currency": "eur",
        "charge": "ch_of_pi_of_in_2", "payment_intent": "pi_of_in_2",
    });
    shop.stripe.put("/v1/disputes/du_1", dispute);
    let no = shop.decide("pi_rest", "refund", &json!({})).await;
    assert_refused(&no, 502, "provider_error");
    assert_eq!(shop.unfulfilled().await.len(), 1);
    billed.gave_back("pi_rest", 0, 1200).await;
    shop.stripe
        .set("/v1/disputes/du_1", json!({"status": "won"}));
    shop.decide("pi_rest", "refund", &json!({}))
        .await
        .expect(200);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_refused_refund_names_the_part_that_was_refunded() {
    let billed = RenewedSubscriber::open().await;
    billed.unclear().await;
    let shop = &billed.shop;
    let dispute = json!({
        "id": "du_1", "object": "dispute", "status": "needs_response", "amount": 1, "currency": "eur",
        "charge": "ch_of_pi_rest", "payment_intent": "pi_rest",
    });
    shop.stripe.put("/v1/disputes/du_1", dispute);
    let no = shop.decide("pi_of_in_2", "refund", &json!({})).await;
    assert_refused(&no, 409, "already_refunded");
    let why = no.body["message"].as_str().unwrap();
    assert!(why.starts_with("7.00 EUR was refunded"), "{why}");
    assert_eq!(shop.unfulfilled().await.len(), 1);
    let log = shop.admin().get("/api/admin/v1/audit").await.expect(200);
    let what = log["entries"][0]["description"].as_str().unwrap();
    let expected = "Refunded 7.00 EUR of unfulfilled payment pi_rest; the provider refused the rest of 19.00 EUR";
    assert!(what.starts_with(expected), "{log}");
    shop.stripe
        .set("/v1/disputes/du_1", json!({"status": "won"}));
    shop.stripe.charged("pi_of_in_2", &json!({}), 700, 700);
    let decision = shop.decide("pi_of_in_2", "refund", &json!({})).await;
    decision.expect(200);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
}

#[tokio::test]
async fn each_payment_finds_the_order_that_a_person_assigned() {
    let billed = RenewedSubscriber::open().await;
    let bill = billed.unclear().await;
    let shop = &billed.shop;
    let to = json!({"priceId": billed.tiers[0], "externalUserId": "ann"});
    let order = shop.decide("pi_of_in_2", "assign", &to).await.expect(200);
    assert_eq!(order["amountCents"], 1900);
    shop.report("invoice.paid", &bill).await.expect(200);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
    billed.gave_back("pi_of_in_2", 200, 700).await;
    assert_eq!(shop.order(&order["id"]).await["refundedCents"], 200);
    let reconciliation = billed.reconcile().await;
    assert_eq!(reconciliation["firstDifferences"], json!([]));
    assert_eq!(
        reconciliation["sums"][0]["ordersCents"], 1900,
        "{reconciliation}"
    );
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
    let path = format!("/api/v1/orders/{}/refund", order["id"].as_str().unwrap());
    let body = json!({"idempotencyKey": "k"});
    shop.service.secret.post(&path, &body).await.expect(200);
    let both = [("pi_of_in_2", "500"), ("pi_rest", "1200")];
    assert_eq!(billed.asked(), refunds(&both));
}

/// A bill by hand for something else, by a subscriber.
#[tokio::test]
async fn a_bill_that_only_its_charges_tell_of_waits_once() {
    let billed = RenewedSubscriber::open().await;
    billed.paid_in_parts("manual");
    let report = billed.reconcile().await;
    assert_eq!(report["sums"][0]["unfulfilledCents"], 1900, "{report}");
    let listed = billed.shop.unfulfilled().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["amountCents"], 1900);
    // What one payment gave back closes nothing.
    billed.gave_back("pi_rest", 1200, 1200).await;
    billed.gave_back("pi_of_in_2", 0, 700).await;
    assert_eq!(billed.shop.unfulfilled().await.len(), 1);
}
