//! Objects of the account that are not this project's: they cost no request, and hide none of its own.

use serde_json::{Value, json};

use super::unreadable_objects::webhook;
use crate::{
    stripe::{self, Override},
    stripe_shop::StripeShop,
};

const COMPLETED: &str = "checkout.session.completed";

#[tokio::test]
async fn what_is_of_another_product_costs_no_question() {
    let shop = StripeShop::open().await;
    let ann = shop.open_checkout("ann").await;
    for number in 0..50 {
        let object =
            json!({"id": format!("cs_test_other_{number}"), "metadata": {"shop": "other"}});
        shop.stripe
            .list(&format!("evt_{number}"), COMPLETED, &object, shop.seconds());
        let id = format!("evt_reported_{number}");
        let (body, header) = stripe::event(&id, COMPLETED, &object, shop.seconds());
        shop.deliver(&body, &header).await.expect(200);
    }
    // Its metadata was replaced; the order is found by its session.
    let path = format!(
        "/v1/checkout/sessions/{}",
        ann["checkoutId"].as_str().unwrap()
    );
    let session = shop.paid_silently(&ann, "evt_ann");
    let mut bare = session.clone();
    bare["metadata"] = json!({});
    shop.stripe
        .list("evt_bare", COMPLETED, &bare, shop.seconds());
    assert_eq!(shop.read_events().await, 1);
    assert_eq!(shop.status(&ann).await, "paid");
    assert_eq!(shop.stripe.calls(&path).len(), 1);
    assert!(
        shop.stripe
            .calls("/v1/checkout/sessions/cs_test_other_7")
            .is_empty()
    );
}

/// A refund of a customer who never bought here.
fn foreign_refund(number: u32) -> Value {
    json!({
        "id": format!("ch_other{number}"), "object": "charge", "amount": 10, "amount_refunded": 10,
        "payment_intent": format!("pi_other{number}"), "customer": format!("cus_other{number}"),
        "metadata": {},
    })
}

#[tokio::test]
async fn a_refund_of_a_stranger_costs_no_question() {
    const REFUNDED: &str = "charge.refunded";
    let shop = StripeShop::open().await;
    let ann = shop.open_checkout("ann").await;
    for number in 0..20 {
        let charge = foreign_refund(number);
        let id = format!("evt_other{number}");
        shop.stripe.list(&id, REFUNDED, &charge, shop.seconds());
        shop.report(REFUNDED, &charge).await.expect(200);
    }
    shop.paid_silently(&ann, "evt_ann");
    assert_eq!(shop.read_events().await, 1);
    assert_eq!(shop.status(&ann).await, "paid");
    let requests = shop.stripe.calls("/v1/payment_intents/pi_other7");
    assert!(requests.is_empty(), "{requests:?}");
}

/// A subscription that was bought, and whose first invoice was refunded: the order, the session and the charge,
/// which has none of the subscription's metadata and an unknown customer.
async fn bought_and_refunded(shop: &StripeShop) -> [Value; 3] {
    let tier = shop.add_tier(500).await;
    let checkout_page = shop.open_checkout_of("ann", &tier).await;
    let subscription = shop.subscription(&checkout_page, "sub_1");
    shop.set_subscription(&subscription);
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let fields = json!({
        "subscription": "sub_1", "invoice": "in_1", "payment_intent": null, "amount_total": 1900,
        "customer": "cus_1",
    });
    let path = format!("/v1/checkout/sessions/{checkout}");
    let session = shop.stripe.set(&path, fields);
    let bill = json!({
        "id": "in_1", "object": "invoice", "customer": "cus_1", "status": "paid",
        "billing_reason": "subscription_create", "amount_paid": 1900, "currency": "eur",
        "created": shop.seconds(),
        "parent": {"subscription_details": {
            "subscription": "sub_1", "metadata": subscription["metadata"],
        }},
        "lines": {"object": "list", "has_more": false, "data": []},
    });
    shop.stripe.put("/v1/invoices/in_1", bill);
    let payment = json!({
        "id": "inpay_1", "object": "invoice_payment", "invoice": "in_1", "status": "paid",
        "amount_paid": 1900,
        "payment": {"type": "payment_intent", "payment_intent": "pi_of_bill"},
    });
    shop.stripe.put("/v1/invoice_payments/inpay_1", payment);
    let charge = shop.stripe.charged("pi_of_bill", &json!({}), 1900, 1900);
    assert_eq!(charge["customer"], "cus_1");
    [checkout_page, session, charge]
}

#[tokio::test]
async fn a_purchase_and_refund_during_an_outage_end_as_refunded() {
    let shop = StripeShop::open().await;
    let [checkout, session, charge] = bought_and_refunded(&shop).await;
    // The newest event comes first in the list, and both are of the same second.
    shop.stripe
        .list("evt_back", "charge.refunded", &charge, shop.seconds());
    shop.stripe
        .list("evt_paid", COMPLETED, &session, shop.seconds());
    shop.read_events().await;
    assert_eq!(shop.status(&checkout).await, "refunded");
}

/// While the purchase is being read, it is unknown whether the refund is ours.
#[tokio::test]
async fn a_refund_that_comes_while_its_purchase_is_looked_at_is_no_strangers() {
    let shop = StripeShop::open().await;
    let [checkout, session, charge] = bought_and_refunded(&shop).await;
    let path = format!("/v1/checkout/sessions/{}", session["id"].as_str().unwrap());
    shop.stripe.instead(&path, Override::Silence);
    let mut purchase = tokio::task::JoinSet::new();
    purchase.spawn(webhook(&shop, "evt_unreported", COMPLETED, &session));
    kit::deadline::answered("the purchase", kit::deadline::SOON, async || {
        (shop.stripe.calls(&path).len() == 1).then_some(())
    })
    .await;
    shop.report("charge.refunded", &charge).await.expect(200);
    shop.report(COMPLETED, &session).await.expect(200);
    assert_eq!(shop.status(&checkout).await, "refunded");
    purchase.shutdown().await;
}
