//! Refunds of what was paid in parts, of which one payment gives back its own and another does not.

use kit::{
    Client,
    service::{ADMIN_TOKEN, Service},
    stripe::Stripe,
};
use scrip::identity::Role;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    order_refresh::{begun, open, sell, text},
    people::{new, person, signed_in},
};

/// Puts a bill of 5.00 into the account, of which 3.00 and then 2.00 were paid, the latter by `payment_rest`.
fn bill(stripe: &Stripe, id: &str, payment: &str, marks: &Value) {
    let invoice = json!({
        "id": id, "object": "invoice", "customer": "cus_1", "status": "paid", "amount_paid": 500,
        "currency": "eur", "lines": {"object": "list", "has_more": false, "data": []},
    });
    stripe.put(&format!("/v1/invoices/{id}"), invoice);
    let rest = format!("{payment}_rest");
    for (created, payment, cents) in [(1, payment, 300), (2, &*rest, 200)] {
        stripe.charged(payment, marks, cents, 0);
        let part = json!({
            "id": format!("inpay_{payment}"), "object": "invoice_payment", "invoice": id,
            "status": "paid", "amount_paid": cents, "created": created,
            "payment": {"type": "payment_intent", "payment_intent": payment},
        });
        stripe.put(&format!("/v1/invoice_payments/inpay_{payment}"), part);
    }
    let dispute = json!({
        "id": format!("du_{payment}"), "object": "dispute", "status": "needs_response", "amount": 1,
        "currency": "eur", "charge": format!("ch_of_{rest}"), "payment_intent": rest,
    });
    stripe.put(&format!("/v1/disputes/du_{payment}"), dispute);
}

/// Ann's paid order of such a bill; its page, and its payment.
async fn paid_in_parts(
    service: &Service,
    stripe: &Stripe,
    browser: &Browser,
    base: &str,
    id: &str,
) -> (String, String) {
    let price = service.add_price(100).await;
    let order = begun(service, &price).await;
    let checkout = text(&order, "checkoutId");
    let session = stripe.pay(checkout);
    let payment = text(&session, "payment_intent").to_owned();
    bill(stripe, id, &payment, &session["metadata"]);
    let path = format!("/v1/checkout/sessions/{checkout}");
    stripe.set(&path, json!({"invoice": id}));
    let page = format!("{base}/orders/{}", text(&order, "orderId"));
    let ask = format!("{page}/refresh");
    browser.submit(&ask, &[]).await.shows("Paid, 100 credits");
    (page, payment)
}

fn refund<'a>(amount: &'a str, key: &'a str) -> [(&'a str, &'a str); 3] {
    [
        ("amount", amount),
        ("idempotencyKey", key),
        ("confirmed", "on"),
    ]
}

#[tokio::test]
async fn a_partial_refund_before_a_refusal_is_shown_and_logged() {
    let (service, stripe, browser, base) = open().await;
    sell(&service).await;
    let (order, payment) = paid_in_parts(&service, &stripe, &browser, &base, "in_1").await;
    let path = format!("{order}/refund");
    let page = browser.post(&path, &refund("4.99", "k")).await;
    assert_eq!(page.status, 409, "{}", page.html);
    page.shows("3.00 EUR was refunded, and the rest was not")
        .shows("has been charged back");
    browser.get(&order).await.shows("3.00 EUR refunded");
    let log = async || browser.get("/dashboard/audit").await;
    log()
        .await
        .shows("Refunded 3.00 EUR of order")
        .shows("the provider refused the rest of 4.99 EUR")
        .lacks("Outcome unknown")
        .lacks("Refund 4.99 EUR");
    // Nothing is given by a try of which nothing is taken.
    let page = browser.post(&path, &refund("1.99", "l")).await;
    assert_eq!(page.status, 409, "{}", page.html);
    page.shows("Nothing was refunded");
    log().await.lacks("1.99 EUR");
    stripe.set(
        &format!("/v1/disputes/du_{payment}"),
        json!({"status": "won"}),
    );
    browser
        .submit(&path, &refund("2", "m"))
        .await
        .shows("The refund is on its way");
    log().await.shows("Refunded 2.00 EUR of order");
}

#[tokio::test]
async fn an_approved_refund_with_a_refused_part_says_what_was_refunded() {
    let (service, stripe, browser, base) = open().await;
    sell(&service).await;
    let (order, _) = paid_in_parts(&service, &stripe, &browser, &base, "in_1").await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let rules = json!({"approvalAboveCents": 100});
    admin.patch(&project, &rules).await.expect(200);
    let sue = person(&service, new("Sue", Role::Support)).await;
    let sue = signed_in(&service, &sue).await;
    let olga = person(&service, new("Olga", Role::Operator)).await;
    let olga = signed_in(&service, &olga).await;
    sue.post(&format!("{order}/refund"), &refund("4.99", "k"))
        .await;
    let page = olga.get(&format!("{base}/approvals")).await;
    let request = page.between("/approvals/", "/").to_owned();
    let approve = format!("{base}/approvals/{request}/approve");
    let page = olga.post(&approve, &[]).await;
    assert_eq!(page.status, 409, "{}", page.html);
    page.shows("3.00 EUR was refunded");
    let log = browser.get("/dashboard/audit").await;
    log.shows("Refunded 3.00 EUR of order")
        .shows("Olga (usr_")
        .lacks("Outcome unknown");
}
