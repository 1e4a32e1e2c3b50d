//! Subscriptions as events report them: renewed, switched, in arrears, ended.

use serde_json::{Value, json};

use crate::{service::lines, stripe_shop::StripeShop};

#[tokio::test]
async fn a_subscription_is_renewed_switched_and_ends() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let product = shop.product_of(&tier);
    let larger = shop
        .add_price_of(
            product,
            domain::catalog::Interval::Month,
            900,
            &["pro", "max"],
        )
        .await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    let mut subscription = shop.subscribe(&checkout, "sub_1").await;
    let day = 86_400;
    shop.service.clock.advance_millis(30 * day * 1000);
    let end = shop.seconds() + 30 * day;
    let price = subscription["items"]["data"][0]["price"]["id"].clone();
    shop.stripe.put(
        &format!("/v1/prices/{}", price.as_str().unwrap()),
        json!({
            "id": price, "product": "prod_x", "active": true, "currency": "eur",
            "metadata": {"scrip_price_id": tier},
        }),
    );
    let invoice = json!({
        "id": "in_2", "object": "invoice", "customer": "cus_1", "status": "paid",
        "billing_reason": "subscription_cycle", "amount_paid": 1900, "currency": "eur",
        "created": shop.seconds(),
        "parent": {"subscription_details": {"subscription": "sub_1", "metadata": subscription["metadata"]}},
        "lines": {"data": [
            // A line that the merchant added to the invoice; it comes first.
            {"amount": 5, "period": {"start": 1, "end": 2},
             "parent": {"invoice_item_details": {"proration": false}},
             "pricing": {"price_details": {"price": "price_of_something_else"}}},
            {"amount": 1900, "period": {"start": shop.seconds(), "end": end},
             "parent": {"subscription_item_details": {"proration": false}},
             "pricing": {"price_details": {"price": price}}},
        ]},
    });
    shop.stripe.put("/v1/invoices/in_2", invoice.clone());
    // As an endpoint of an older API version sends it, without the project's metadata.
    let old = json!({
        "id": "in_2", "object": "invoice", "customer": "cus_1", "status": "paid",
        "billing_reason": "subscription_cycle", "amount_paid": 1900, "currency": "eur",
        "created": shop.seconds(), "subscription": "sub_1",
    });
    shop.report("invoice.paid", &old).await.expect(200);
    shop.report("invoice.paid", &invoice).await.expect(200);
    assert_eq!(
        shop.service.ledger("ann").await,
        lines(&[(500, "purchase"), (-500, "expiry"), (500, "purchase")])
    );
    let orders = shop.service.secret.get("/api/v1/orders").await.expect(200);
    let renewal = &orders["orders"][0];
    assert_eq!(
        (&renewal["kind"], &renewal["status"]),
        (&json!("renewal"), &json!("paid"))
    );
    assert!(renewal["checkoutId"].is_null());

    subscription["items"]["data"][0]["price"]["metadata"]["scrip_price_id"] = json!(larger);
    subscription["items"]["data"][0]["current_period_start"] = json!(end - 30 * 86_400);
    subscription["items"]["data"][0]["current_period_end"] = json!(end);
    shop.change_and_report("customer.subscription.updated", &subscription)
        .await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["features"], json!(["max", "pro"]));
    assert_eq!(
        wallet["balances"][0]["balance"], 500,
        "the difference comes when it is paid"
    );

    shop.stripe.put(
        "/v1/prices/price_larger",
        json!({
            "id": "price_larger", "product": "prod_x", "active": true, "currency": "eur",
            "metadata": {"scrip_price_id": larger},
        }),
    );
    let line = |amount: i64, price: &Value| {
        json!({
            "amount": amount, "period": {"start": shop.seconds(), "end": end},
            "parent": {"subscription_item_details": {"proration": true}},
            "pricing": {"price_details": {"price": price}},
        })
    };
    let switch = json!({
        "id": "in_3", "object": "invoice", "customer": "cus_1", "status": "paid",
        "billing_reason": "subscription_update", "amount_paid": 1000, "currency": "eur",
        "created": shop.seconds(),
        "parent": {"subscription_details": {"subscription": "sub_1", "metadata": subscription["metadata"]}},
        "lines": {"data": [line(-1900, &price), line(2900, &json!("price_larger"))]},
    });
    shop.stripe.put("/v1/invoices/in_3", switch.clone());
    for _ in 0..2 {
        shop.report("invoice.paid", &switch).await.expect(200);
        assert_eq!(shop.wallet("ann").await["balances"][0]["balance"], 900);
    }
    let orders = shop.service.secret.get("/api/v1/orders").await.expect(200);
    assert_eq!(
        (
            &orders["orders"][0]["kind"],
            &orders["orders"][0]["amountCents"]
        ),
        (&json!("switch"), &json!(1000))
    );

    subscription["status"] = json!("past_due");
    shop.change_and_report("customer.subscription.updated", &subscription)
        .await;
    assert_eq!(
        shop.wallet("ann").await["subscriptions"][0]["status"],
        "past_due"
    );
    assert_eq!(
        shop.wallet("ann").await["features"],
        json!(["max", "pro"]),
        "days of grace"
    );
    shop.service.clock.advance_millis(7 * day * 1000);
    assert_eq!(shop.wallet("ann").await["features"], json!([]));

    subscription["status"] = json!("active");
    subscription["cancel_at_period_end"] = json!(true);
    shop.set_subscription(&subscription);
    shop.report("customer.subscription.updated", &subscription)
        .await
        .expect(200);
    assert_eq!(
        shop.wallet("ann").await["subscriptions"][0]["cancelAtPeriodEnd"],
        true
    );

    // The refund of the renewal contains only a payment.
    shop.stripe.put("/v1/invoice_payments/inpay_1", json!({
        "id": "inpay_1", "invoice": "in_2", "status": "paid", "payment": {"payment_intent": "pi_renewal"},
    }));
    let charge = shop.stripe.charged("pi_renewal", &json!({}), 1900, 1900);
    shop.report("charge.refunded", &charge).await.expect(200);
    let refunded = shop.order(&renewal["id"]).await;
    assert_eq!(
        (&refunded["status"], &refunded["refundedCents"]),
        (&json!("refunded"), &json!(1900))
    );

    subscription["status"] = json!("canceled");
    shop.change_and_report("customer.subscription.deleted", &subscription)
        .await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(
        (&wallet["subscriptions"], &wallet["features"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(wallet["balances"][0]["balance"], 0);
}

#[tokio::test]
async fn a_lost_renewal_is_found_with_the_next_report_of_its_subscription() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    let mut subscription = shop.subscribe(&checkout, "sub_1").await;
    shop.service.clock.advance_millis(30 * 86_400 * 1000);
    let price = subscription["items"]["data"][0]["price"]["id"].clone();
    let marks = json!({"scrip_price_id": tier});
    let path = format!("/v1/prices/{}", price.as_str().unwrap());
    shop.stripe.put(
        &path,
        json!({"id": price, "product": "prod_x", "active": true, "currency": "eur", "metadata": marks}),
    );
    let end = shop.seconds() + 30 * 86_400;
    shop.stripe.put(
        "/v1/invoices/in_2",
        json!({
            "id": "in_2", "customer": "cus_1", "status": "paid", "amount_paid": 1900, "currency": "eur",
            "billing_reason": "subscription_cycle", "created": shop.seconds(),
            "parent": {"subscription_details": {"subscription": "sub_1"}},
            "lines": {"data": [{
                "amount": 1900, "period": {"start": shop.seconds(), "end": end},
                "parent": {"subscription_item_details": {"proration": false}},
                "pricing": {"price_details": {"price": price}},
            }]},
        }),
    );
    subscription["latest_invoice"] = json!("in_2");
    subscription["items"]["data"][0]["current_period_end"] = json!(end);
    shop.set_subscription(&subscription);
    shop.report("customer.subscription.updated", &subscription)
        .await
        .expect(200);
    assert_eq!(
        shop.service.ledger("ann").await,
        lines(&[(500, "purchase"), (-500, "expiry"), (500, "purchase")])
    );
}

#[tokio::test]
async fn an_operator_finds_a_subscription_by_either_name_of_it() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    shop.subscribe(&checkout, "sub_1").await;
    let wallet = shop.wallet("ann").await;
    let own = wallet["subscriptions"][0]["id"].as_str().unwrap();
    for folded in [false, true] {
        for name in [own, "sub_1"] {
            let project = shop.service.project.id;
            let path = format!("/api/admin/v1/search?projectId={project}&query={name}");
            let found = shop.admin().get(&path).await.expect(200);
            assert_eq!(
                found["wallets"][0]["externalUserId"], "ann",
                "{name}, {folded}"
            );
            assert_eq!(
                found["orders"][0]["id"], checkout["orderId"],
                "{name}, {folded}"
            );
        }
        shop.service.handle.fold_all().await.unwrap();
    }
}
