//! The first invoice of a subscription, whose debit takes time and may fail.

use serde_json::{Value, json};

use super::{DAY, line};
use crate::stripe_shop::StripeShop;

/// A checkout of a tier whose buyer is done, and whose debit is processing.
async fn awaited() -> (StripeShop, Value, String, Value) {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    let mut subscription = shop.subscription(&checkout, "sub_1");
    subscription["latest_invoice"] = json!("in_first");
    shop.set_subscription(&subscription);
    let bill = json!({
        "id": "in_first", "object": "invoice", "customer": "cus_1", "status": "open",
        "billing_reason": "subscription_create", "amount_paid": 0, "currency": "eur",
        "created": shop.seconds(),
        "parent": {"subscription_details": {
            "subscription": "sub_1", "metadata": subscription["metadata"],
        }},
        "lines": {"object": "list", "has_more": false, "data": [
            line("price_small", shop.seconds()),
        ]},
    });
    shop.stripe.put("/v1/invoices/in_first", bill);
    let payment = json!({
        "id": "inpay_1", "object": "invoice_payment", "invoice": "in_first", "status": "open",
        "payment": {"type": "payment_intent", "payment_intent": "pi_first"},
    });
    shop.stripe.put("/v1/invoice_payments/inpay_1", payment);
    shop.stripe.put(
        "/v1/payment_intents/pi_first",
        json!({"id": "pi_first", "object": "payment_intent", "amount_received": 0,
            "status": "processing"}),
    );
    let path = format!(
        "/v1/checkout/sessions/{}",
        checkout["checkoutId"].as_str().unwrap()
    );
    let waiting = json!({
        "status": "complete", "payment_status": "unpaid", "subscription": "sub_1",
        "invoice": "in_first", "customer": "cus_1",
    });
    let session = shop.stripe.set(&path, waiting);
    let reply = shop.report("checkout.session.completed", &session);
    reply.await.expect(200);
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        (&order["status"], &order["processing"]),
        (&json!("pending"), &json!(true))
    );
    (shop, checkout, tier, subscription)
}

/// A debit that failed.
async fn failed() -> (StripeShop, Value, String, Value) {
    let (shop, checkout, tier, mut subscription) = awaited().await;
    let failed = json!({"status": "requires_payment_method"});
    shop.stripe.set("/v1/payment_intents/pi_first", failed);
    subscription["status"] = json!("past_due");
    shop.service.clock.advance_millis(DAY * 1000 / 2);
    shop.change_and_report("customer.subscription.updated", &subscription)
        .await;
    (shop, checkout, tier, subscription)
}

#[tokio::test]
async fn a_first_debit_that_fails_late_fails_its_order() {
    let (shop, checkout, tier, mut subscription) = failed().await;
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(order["status"], "failed");
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["features"], json!([]));
    assert_eq!(wallet["subscriptions"][0]["status"], "past_due");
    let body = json!({"externalUserId": "ann", "priceId": tier});
    let second = shop.checkout(body.clone()).await;
    crate::service::assert_refused(&second, 409, "already_subscribed");
    // Stripe stops retrying and cancels the subscription.
    subscription["status"] = json!("canceled");
    shop.change_and_report("customer.subscription.deleted", &subscription)
        .await;
    assert_eq!(shop.wallet("ann").await["subscriptions"], json!([]));
    shop.checkout(body).await.expect(200);
}

#[tokio::test]
async fn a_first_debit_that_fails_is_seen_by_its_session_too() {
    let (shop, checkout, _, _) = awaited().await;
    let failed = json!({"status": "requires_payment_method"});
    shop.stripe.set("/v1/payment_intents/pi_first", failed);
    let path = checkout["checkoutId"].as_str().unwrap();
    let session = json!({"id": path, "object": "checkout.session"});
    let reply = shop.report("checkout.session.async_payment_failed", &session);
    reply.await.expect(200);
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(order["status"], "failed");
}

#[tokio::test]
async fn a_first_bill_that_is_paid_later_pays_the_order() {
    let (shop, checkout, _, mut subscription) = failed().await;
    let paid = json!({"status": "paid", "amount_paid": 1900});
    let bill = shop.stripe.set("/v1/invoices/in_first", paid);
    shop.stripe
        .set("/v1/invoice_payments/inpay_1", json!({"status": "paid"}));
    shop.stripe.charged("pi_first", &json!({}), 1900, 0);
    subscription["status"] = json!("active");
    shop.set_subscription(&subscription);
    for _ in 0..2 {
        shop.report("invoice.paid", &bill).await.expect(200);
        let order = shop.order(&checkout["orderId"]).await;
        assert_eq!(order["status"], "paid");
        assert_eq!(order["payment"]["paymentId"], "pi_first");
    }
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["features"], json!(["pro"]));
    assert_eq!(wallet["balances"][0]["balance"], 500);
    assert_eq!(wallet["subscriptions"][0]["status"], "active");
}
