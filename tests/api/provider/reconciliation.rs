//! Reconciliation: the provider's lists of payments compared with the orders, without any event.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::{service::assert_refused, stripe_shop::StripeShop};

impl StripeShop {
    /// Reconciles the last three days; returns the result.
    pub(crate) async fn reconcile(&self) -> Value {
        let path = self.administered("reconciliation");
        let checkout = self.admin().post(&path, &json!({})).await.expect(202);
        let began = match &checkout["running"] {
            Value::Null => checkout["last"]["startedAt"].clone(),
            running => running["startedAt"].clone(),
        };
        let what = "a reconciliation's end";
        kit::deadline::answered(what, kit::deadline::SOON, async || {
            let now = self.admin().get(&path).await.expect(200);
            assert_eq!(now["error"], Value::Null);
            let ended = now["running"].is_null() && now["last"]["startedAt"] == began;
            ended.then(|| now["last"].clone())
        })
        .await
    }

    /// Adds a charge of a payment, as Stripe lists it now.
    fn charge(&self, payment: &str, marks: &Value, cents: i64, refunded: i64) -> Value {
        self.stripe.charged(payment, marks, cents, refunded);
        let created = json!({"created": self.seconds() - 60});
        self.stripe.set(&self.charge_of(payment), created)
    }

    /// The path of a payment's charge.
    fn charge_of(&self, payment: &str) -> String {
        let path = format!("/v1/payment_intents/{payment}");
        let payment = self.stripe.set(&path, json!({}));
        format!("/v1/charges/{}", payment["latest_charge"].as_str().unwrap())
    }

    /// A paid order and its charge; returns the order, and the charge's payment id.
    async fn sells(&self, user: &str) -> (Value, String) {
        let checkout = self.open_checkout(user).await;
        let session = self.pay(&checkout).await;
        let payment = session["payment_intent"].as_str().unwrap().to_owned();
        self.charge(&payment, &session["metadata"], 500, 0);
        self.stripe.set(
            &self.charge_of(&payment),
            json!({"customer": session["customer"]}),
        );
        (checkout["orderId"].clone(), payment)
    }
}

fn sum(made: &Value) -> [i64; 4] {
    [
        "ordersCents",
        "unfulfilledCents",
        "otherCents",
        "differingCents",
    ]
    .map(|name| made["sums"][0][name].as_i64().unwrap())
}

#[tokio::test]
async fn every_cent_is_an_orders_an_unfulfilled_payments_or_another_products() {
    let shop = StripeShop::open().await;
    let empty = shop.reconcile().await;
    assert_eq!(
        (&empty["balanced"], &empty["charges"]),
        (&json!(true), &json!(0))
    );
    shop.sells("ann").await;
    shop.sells("bea").await;
    shop.pays_unknown_order(1).await;
    shop.charge("pi_lost1", &shop.lost(), 900, 0);
    for number in 0..120 {
        shop.charge(&format!("pi_other{number}"), &json!({}), 10, 0);
        let path = format!("/v1/charges/ch_of_pi_other{number}");
        shop.stripe
            .set(&path, json!({"customer": format!("cus_other{number}")}));
    }
    let failed = shop.charge("pi_failed", &json!({}), 777, 0);
    let path = format!("/v1/charges/{}", failed["id"].as_str().unwrap());
    shop.stripe.set(&path, json!({"status": "failed"}));
    let report = shop.reconcile().await;
    assert_eq!(report["firstDifferences"], json!([]));
    assert_eq!(
        (&report["balanced"], &report["charges"]),
        (&json!(true), &json!(123))
    );
    assert_eq!(sum(&report), [1000, 900, 1200, 0]);
    assert_eq!(report["sums"][0]["currency"], "EUR");
    // Read in pages, by creation time.
    let calls = shop.stripe.calls("/v1/charges");
    let pages = calls
        .iter()
        .filter(|call| call.form.contains_key("starting_after"));
    assert_eq!(pages.count(), 1);
    let shown = shop.again().await;
    let path = shown.administered("reconciliation");
    let last = shown.admin().get(&path).await.expect(200)["last"].clone();
    assert_eq!(last, report, "kept over a restart");
}

#[tokio::test]
async fn what_matches_wakes_nobody() {
    let shop = StripeShop::open().await;
    for user in ["ann", "bea"] {
        shop.sells(user).await;
    }
    let shop = shop.again().await;
    assert_eq!(shop.service.handle.stats().awake, 0, "a new process");
    let report = shop.reconcile().await;
    assert_eq!(sum(&report), [1000, 0, 0, 0]);
    assert_eq!(shop.service.handle.stats().awake, 0);
}

#[tokio::test]
async fn a_refund_and_a_dispute_without_an_event_are_applied() {
    let shop = StripeShop::open().await;
    let (refunded, payment) = shop.sells("ann").await;
    let (disputed, other) = shop.sells("bea").await;
    let charge = shop.stripe.set(
        &shop.charge_of(&payment),
        json!({"amount_refunded": 500, "refunded": true}),
    );
    let created = shop.seconds() - 30;
    let refund = json!({
        "id": "re_unreported", "object": "refund", "amount": 500, "payment_intent": payment,
        "charge": charge["id"], "status": "succeeded", "created": created, "metadata": {},
    });
    shop.stripe.put("/v1/refunds/re_unreported", refund);
    let dispute = json!({
        "id": "du_unreported", "object": "dispute", "amount": 500, "currency": "eur",
        "payment_intent": other, "charge": shop.charge_of(&other).trim_start_matches("/v1/charges/"), "status": "lost",
        "reason": "general", "created": created,
    });
    shop.stripe.put("/v1/disputes/du_unreported", dispute);
    shop.service.clock.advance_millis(1000);
    let report = shop.reconcile().await;
    assert_eq!(report["firstDifferences"], json!([]));
    assert_eq!(
        (&report["refunds"], &report["disputes"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(report["corrected"], 2);
    for order in [refunded, disputed] {
        assert_eq!(shop.order(&order).await["status"], "refunded");
    }
}

#[tokio::test]
async fn a_charge_without_a_report_is_fulfilled_or_waits_for_a_person() {
    let shop = StripeShop::open().await;
    // Paid, but never reported.
    let checkout = shop.open_checkout("ann").await;
    let session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    let payment = session["payment_intent"].as_str().unwrap();
    shop.charge(payment, &session["metadata"], 500, 0);
    // For orders that do not exist here.
    shop.charge("pi_lost1", &shop.lost(), 900, 0);
    let report = shop.reconcile().await;
    assert_eq!(report["firstDifferences"], json!([]));
    assert_eq!(report["corrected"], 2);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
    let waits = shop.unfulfilled().await;
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0]["reason"], "unknown_order");
    assert_eq!(sum(&report), [500, 900, 0, 0]);
}

/// An invoice of an unknown subscription of ours, by an unknown customer: only the invoice's
/// metadata says whose it is.
#[tokio::test]
async fn a_subscriptions_charge_without_marks_is_known_by_its_bill() {
    let shop = StripeShop::open().await;
    let created = shop.seconds() - 60;
    let foreign = json!({"id": "price_foreign", "product": "prod_y", "metadata": {}});
    shop.stripe.put("/v1/prices/price_foreign", foreign.clone());
    for (number, marks) in [(1, shop.lost()), (2, json!({"crm": "42"}))] {
        let (bill, payment) = (format!("in_{number}"), format!("pi_{number}"));
        let customer = format!("cus_unknown{number}");
        shop.charge(&payment, &json!({}), 1900, 0);
        let of = json!({"customer": customer});
        shop.stripe
            .set(&format!("/v1/charges/ch_of_{payment}"), of.clone());
        let invoice = json!({
            "id": bill, "object": "invoice", "customer": customer, "status": "paid",
            "billing_reason": "subscription_cycle", "amount_paid": 1900, "currency": "eur",
            "created": created,
            "parent": {"subscription_details": {
                "subscription": format!("sub_{number}"), "metadata": marks,
            }},
            "lines": {"object": "list", "has_more": false, "data": []},
        });
        shop.stripe.put(&format!("/v1/invoices/{bill}"), invoice);
        let by = json!({
            "id": format!("inpay_{number}"), "object": "invoice_payment", "invoice": bill,
            "status": "paid", "amount_paid": 1900,
            "payment": {"type": "payment_intent", "payment_intent": payment},
        });
        shop.stripe
            .put(&format!("/v1/invoice_payments/inpay_{number}"), by);
        shop.set_subscription(&json!({
            "id": format!("sub_{number}"), "object": "subscription", "customer": customer,
            "status": "active", "metadata": marks, "latest_invoice": bill,
            "items": {"object": "list", "data": [{"price": foreign}]},
        }));
    }
    let report = shop.reconcile().await;
    assert_eq!(report["firstDifferences"], json!([]));
    assert_eq!(sum(&report), [0, 1900, 1900, 0]);
    let waits = shop.unfulfilled().await;
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!(waits[0]["invoiceId"], "in_1");
    let lists = shop.stripe.calls("/v1/invoices");
    assert_eq!(lists.len(), 1, "a page for both");
}

#[tokio::test]
async fn what_stays_different_is_kept_and_counted() {
    let shop = StripeShop::open().await;
    let (order, payment) = shop.sells("ann").await;
    shop.charge(&payment, &json!({}), 700, 0);
    let report = shop.reconcile().await;
    assert_eq!(
        (&report["balanced"], &report["differences"]),
        (&json!(false), &json!(1))
    );
    let expected = json!({
        "kind": "amount", "id": shop.charge_of(&payment).trim_start_matches("/v1/charges/"), "paymentId": payment,
        "orderId": order, "providerCents": 700, "orderCents": 500, "currency": "EUR",
    });
    assert_eq!(report["firstDifferences"], json!([expected]));
    assert_eq!(sum(&report), [0, 0, 0, 700]);
    let figures = shop.admin().request(reqwest::Method::GET, "/metrics");
    let figures = figures.send().await.unwrap().text().await.unwrap();
    assert!(
        figures.contains("scrip_reconciliation_differences 1"),
        "{figures}"
    );
    assert!(
        figures.contains("scrip_reconciliation_age_seconds 0"),
        "{figures}"
    );
}

#[tokio::test]
async fn a_span_has_a_beginning_and_there_is_one_at_a_time() {
    let shop = StripeShop::open().await;
    let path = shop.administered("reconciliation");
    let body = json!({"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"});
    assert_refused(
        &shop.admin().post(&path, &body).await,
        400,
        "invalid_request",
    );
    let project = shop
        .service
        .catalog
        .project(shop.service.project.id)
        .unwrap();
    let (reconciliations, now) = (shop.service.payments.reconciliations().clone(), shop.now());
    let begin = || reconciliations.begin(&project, Timestamp(0), now).unwrap();
    assert!(begin());
    // Its task cannot have run on this thread yet.
    assert!(!begin());
}
