//! Events are applied: a purchase is paid, fails, expires, is refunded or disputed, once.

use serde_json::{Value, json};

use crate::{
    service::lines,
    stripe::{self},
    stripe_shop::StripeShop,
};

const COMPLETED: &str = "checkout.session.completed";

#[tokio::test]
async fn a_payment_is_fulfilled_once_however_often_it_is_reported() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    let (body, header) = stripe::event("evt_same", COMPLETED, &session, shop.seconds());
    let deliveries = (0..100).map(|_| shop.deliver(&body, &header));
    for reply in futures_util::future::join_all(deliveries).await {
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    // Another event about the same payment.
    shop.report("checkout.session.async_payment_succeeded", &session)
        .await
        .expect(200);
    assert_eq!(
        shop.service.ledger("ann").await,
        lines(&[(100, "purchase")])
    );
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(order["status"], "paid");
    assert!(order["paidAt"].is_string());
    assert_eq!(order["customerEmail"], "buyer@mail.example");
}

#[tokio::test]
async fn the_order_shows_the_charged_amount() {
    let shop = StripeShop::open().await;
    let checkout_page = shop.open_checkout("ann").await;
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let path = format!("/v1/checkout/sessions/{checkout}");
    let session = shop.stripe.set(&path, json!({"amount_total": 400}));
    shop.report(COMPLETED, &session).await.expect(200);
    assert_eq!(
        shop.order(&checkout_page["orderId"]).await["amountCents"],
        400
    );
}

#[tokio::test]
async fn an_asynchronous_payment_comes_or_does_not() {
    let shop = StripeShop::open().await;
    for (outcome, status, balance) in [
        ("checkout.session.async_payment_succeeded", "paid", 100),
        ("checkout.session.async_payment_failed", "failed", 0),
    ] {
        let checkout = shop.open_checkout(status).await;
        let path = format!(
            "/v1/checkout/sessions/{}",
            checkout["checkoutId"].as_str().unwrap()
        );
        let waiting = shop.stripe.set(
            &path,
            json!({"status": "complete", "payment_status": "unpaid", "payment_intent": "pi_1"}),
        );
        let way = |status: &str| json!({"id": "pi_1", "amount_received": 0, "status": status});
        let intent = "/v1/payment_intents/pi_1";
        shop.stripe.put(intent, way("processing"));
        shop.report(COMPLETED, &waiting).await.expect(200);
        assert_eq!(shop.order(&checkout["orderId"]).await["status"], "pending");
        let payment = if balance > 0 { "paid" } else { "unpaid" };
        let session = shop.stripe.set(&path, json!({"payment_status": payment}));
        if balance == 0 {
            shop.stripe.put(intent, way("requires_payment_method"));
        }
        shop.report(outcome, &session).await.expect(200);
        let order = shop.order(&checkout["orderId"]).await;
        assert_eq!(
            (&order["status"], &order["balance"]),
            (&json!(status), &json!(balance))
        );
    }
}

#[tokio::test]
async fn a_paid_order_says_to_a_secret_key_how_it_was_paid() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    assert!(shop.order(&checkout["orderId"]).await["payment"].is_null());
    shop.pay(&checkout).await;
    let order = shop.order(&checkout["orderId"]).await;
    let payment = &order["payment"];
    assert_eq!(
        (
            &payment["provider"],
            &payment["livemode"],
            &payment["customerId"]
        ),
        (&json!("stripe"), &json!(false), &json!("cus_1"))
    );
    assert!(payment["paymentId"].as_str().unwrap().starts_with("pi_"));
    let path = format!("/api/v1/orders/{}", checkout["orderId"].as_str().unwrap());
    let reply = shop.service.publishable.get(&path).await.expect(200);
    assert!(reply.get("payment").is_none());
}

#[tokio::test]
async fn a_closed_session_expires_its_order() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let path = format!(
        "/v1/checkout/sessions/{}",
        checkout["checkoutId"].as_str().unwrap()
    );
    let session = shop.stripe.set(&path, json!({"status": "expired"}));
    shop.report("checkout.session.expired", &session)
        .await
        .expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "expired");
}

#[tokio::test]
async fn an_order_that_was_never_placed_is_fulfilled_from_its_session() {
    let shop = StripeShop::open().await;
    for (target, user) in [
        (json!({"externalUserId": "ann"}), Some("ann")),
        (json!({}), None),
    ] {
        let checkout = shop.checkout(target).await.expect(200);
        let mut session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
        // As if the service had crashed between the session and its order.
        let known: domain::id::OrderId = checkout["orderId"].as_str().unwrap().parse().unwrap();
        let unseen = domain::id::OrderId {
            serial: domain::id::OrderSerial(known.serial.0 + 1),
            ..known
        };
        session["id"] = json!(format!("cs_test_unseen_{}", user.unwrap_or("nobody")));
        session["metadata"]["scrip_order_id"] = json!(unseen.to_string());
        let path = format!("/v1/checkout/sessions/{}", session["id"].as_str().unwrap());
        shop.stripe.put(&path, session.clone());
        let reply = shop.report(COMPLETED, &session).await;
        reply.expect(200);
        let path = format!("/api/v1/orders/{unseen}");
        let order = shop.service.secret.get(&path).await.expect(200);
        assert_eq!(
            (&order["status"], &order["balance"]),
            (&json!("paid"), &json!(100))
        );
        assert_eq!(order["externalUserId"], json!(user));
        assert_eq!(order["code"].is_string(), user.is_none());
    }
}

/// The metadata of an order's payment.
fn marks(shop: &StripeShop, checkout: &Value) -> Value {
    json!({
        "scrip_project_id": shop.service.project.id.to_string(),
        "scrip_order_id": checkout["orderId"],
    })
}

#[tokio::test]
async fn refunds_take_their_share_of_credits_and_no_more() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
    shop.service.grant("ann", 1000).await;
    let charged = |refunded: i64| {
        shop.stripe
            .charged("pi_1", &marks(&shop, &checkout), 500, refunded)
    };
    shop.report("charge.refunded", &charged(200))
        .await
        .expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["refundedCents"], 200);
    // One of two refunds failed, so its credits are returned. The event's own copy is outdated.
    let old = charged(200);
    charged(100);
    shop.report("charge.refunded", &old).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["refundedCents"], 100);
    charged(200);
    shop.report(
        "refund.failed",
        &json!({"id": "re_1", "payment_intent": "pi_1"}),
    )
    .await
    .expect(200);
    let spend = json!({"externalUserId": "ann", "productId": shop.service.product, "amount": 50, "idempotencyKey": "k"});
    shop.service
        .secret
        .post("/api/v1/wallets/external/deduct", &spend)
        .await
        .expect(200);
    shop.report("charge.refunded", &charged(500))
        .await
        .expect(200);
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        (&order["status"], &order["refundedCents"]),
        (&json!("refunded"), &json!(500))
    );
    let expected = [
        (100, "purchase"),
        (1000, "manual"),
        (-40, "refund"),
        (20, "refund"),
        (-20, "refund"),
        (-50, "deduction"),
        (-10, "refund"),
    ];
    assert_eq!(shop.service.ledger("ann").await, lines(&expected));
}

#[tokio::test]
async fn a_refund_that_is_reported_before_its_payment_is_applied_with_it() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let charge = shop
        .stripe
        .charged("pi_1", &marks(&shop, &checkout), 500, 500);
    shop.report("charge.refunded", &charge).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "pending");
    shop.pay(&checkout).await;
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        (&order["status"], &order["balance"]),
        (&json!("refunded"), &json!(0))
    );
}

#[tokio::test]
async fn a_dispute_takes_and_gives_back() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
    shop.stripe
        .charged("pi_1", &marks(&shop, &checkout), 500, 0);
    let dispute = |status: &str| {
        let dispute = json!({
            "id": "du_1", "object": "dispute", "status": status, "amount": 500, "currency": "eur",
            "charge": "ch_1", "payment_intent": "pi_1",
        });
        shop.stripe.put("/v1/disputes/du_1", dispute.clone());
        dispute
    };
    shop.report("charge.dispute.created", &dispute("warning_needs_response"))
        .await
        .expect(200);
    assert_eq!(
        shop.order(&checkout["orderId"]).await["balance"],
        100,
        "an inquiry takes nothing"
    );
    shop.report("charge.dispute.created", &dispute("needs_response"))
        .await
        .expect(200);
    let open = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        (&open["status"], &open["balance"]),
        (&json!("refunded"), &json!(0))
    );
    shop.report("charge.dispute.closed", &dispute("won"))
        .await
        .expect(200);
    let won = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        (&won["status"], &won["balance"]),
        (&json!("paid"), &json!(100))
    );
    let expected = [(100, "purchase"), (-100, "refund"), (100, "refund")];
    assert_eq!(shop.service.ledger("ann").await, lines(&expected));
}
