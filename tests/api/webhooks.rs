//! `POST /webhooks/stripe/{projectId}`: which events are trusted, and their effects.

use reqwest::Method;
use scrip::catalog::{NewProject, ProjectChange, ProviderChange};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    client::Client,
    service::{assert_refused, lines},
    shop::Shop,
    stripe::{self, Override},
};

const COMPLETED: &str = "checkout.session.completed";

#[tokio::test]
async fn a_payment_is_fulfilled_once_however_often_it_is_reported() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let session = shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
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
    let order = shop.order(&begun["orderId"]).await;
    assert_eq!(order["status"], "paid");
    assert!(order["paidAt"].is_string());
    assert_eq!(order["customerEmail"], "buyer@mail.example");
}

#[tokio::test]
async fn what_was_charged_is_what_the_order_shows() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let checkout = begun["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let path = format!("/v1/checkout/sessions/{checkout}");
    let session = shop.stripe.set(&path, json!({"amount_total": 400}));
    shop.report(COMPLETED, &session).await.expect(200);
    assert_eq!(shop.order(&begun["orderId"]).await["amountCents"], 400);
}

/// Sends a webhook's head and part of its body; returns the response, and after how many seconds it came.
async fn stalled(shop: &Shop, project: &str, header: Option<&str>) -> (String, u64) {
    half(shop, &format!("/webhooks/stripe/{project}"), header).await
}

async fn half(shop: &Shop, path: &str, header: Option<&str>) -> (String, u64) {
    let address = shop.service.base.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let signature = header.map_or(String::new(), |header| {
        format!("Stripe-Signature: {header}\r\n")
    });
    let begun = tokio::time::Instant::now();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n{signature}\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Until the connection is closed.
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    (answer, begun.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn who_cannot_be_the_provider_is_told_before_a_body_is_read() {
    let shop = Shop::open().await;
    let (_, good) = stripe::event("evt_1", COMPLETED, &json!({}), shop.seconds());
    let known = shop.service.project.id.to_string();
    let other = shop.service.catalog.create_project(NewProject {
        name: "Without a provider".into(),
        ..NewProject::default()
    });
    let other = other.await.unwrap().0.id.to_string();
    for (project, header) in [
        (known.as_str(), None),
        (&known, Some("")),
        (&known, Some("t=1")),
        (&known, Some("v1=00")),
        ("x", Some(good.as_str())),
        ("proj_00000000000000000000000000", Some(&good)),
        (&other, Some(&good)),
    ] {
        let (answer, seconds) = stalled(&shop, project, header).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("invalid_signature"), "{answer}");
        assert_eq!(seconds, 0, "{project} {header:?}");
    }
    // A sandbox that does not exist buffers no body either.
    let path = format!("/sandbox/{known}/v1/prices");
    let (answer, seconds) = half(&shop, &path, None).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert_eq!(seconds, 0);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_has_ten_seconds_for_its_body() {
    let shop = Shop::open().await;
    let (_, good) = stripe::event("evt_1", COMPLETED, &json!({}), shop.seconds());
    let project = shop.service.project.id.to_string();
    let (answer, seconds) = stalled(&shop, &project, Some(&good)).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("took too long"), "{answer}");
    assert_eq!(seconds, 10);
}

#[tokio::test]
async fn forged_stale_and_damaged_webhooks_change_nothing() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let session = shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    let now = shop.seconds();
    let (body, good) = stripe::event("evt_1", COMPLETED, &session, now);
    let hour = 3600;
    let (_, stale) = stripe::event("evt_1", COMPLETED, &session, now - hour);
    let (_, early) = stripe::event("evt_1", COMPLETED, &session, now + hour);
    let refused = async |body: &str, header: &str| {
        let reply = shop.deliver(body, header).await;
        assert_refused(&reply, 400, "invalid_signature");
    };
    refused(&body, "").await;
    refused(&body, "t=1,v1=00").await;
    refused(&body, &stale).await;
    refused(&body, &early).await;
    refused(&body[..body.len() - 1], &good).await;
    refused(&body.replace("cs_test", "cs_live"), &good).await;
    let bare = shop.service.secret.request(
        Method::POST,
        &format!("/webhooks/stripe/{}", shop.service.project.id),
    );
    assert_refused(
        &Client::send(bare.body(body.clone())).await.unwrap(),
        400,
        "invalid_signature",
    );
    for project in ["proj_00000000000000000000000001", "x"] {
        let request = shop
            .service
            .secret
            .request(Method::POST, &format!("/webhooks/stripe/{project}"));
        let request = request.header("stripe-signature", &good).body(body.clone());
        assert_refused(
            &Client::send(request).await.unwrap(),
            400,
            "invalid_signature",
        );
    }
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "pending");
    shop.deliver(&body, &good).await.expect(200);
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn a_replaced_secret_is_believed_for_a_day_more() {
    let shop = Shop::open().await;
    let new = Some(ProviderChange::Stripe {
        secret_key: None,
        webhook_secret: Some("whsec_new".into()),
    });
    let nothing = ProjectChange::default();
    let project = shop.service.project.id;
    shop.service
        .catalog
        .update_project(project, nothing, new)
        .await
        .unwrap();
    shop.report("customer.created", &json!({}))
        .await
        .expect(200);
    shop.service.clock.advance_millis(24 * 3600 * 1000);
    let reply = shop.report("customer.created", &json!({})).await;
    assert_refused(&reply, 400, "invalid_signature");
}

#[tokio::test]
async fn what_is_none_of_ours_is_acknowledged() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let mut session = shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    shop.report("radar.early_fraud_warning.created", &json!({"id": "x"}))
        .await
        .expect(200);
    // Of the same account, but not an order of ours.
    session["id"] = json!("cs_test_foreign");
    let path = "/v1/checkout/sessions/cs_test_foreign";
    session["metadata"]["scrip_project_id"] = json!("proj_00000000000000000000000001");
    shop.stripe.put(path, session.clone());
    shop.report(COMPLETED, &session).await.expect(200);
    session["metadata"] = json!({});
    shop.stripe.put(path, session.clone());
    shop.report(COMPLETED, &session).await.expect(200);
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "pending");
}

#[tokio::test]
async fn an_asynchronous_payment_comes_or_does_not() {
    let shop = Shop::open().await;
    for (outcome, status, balance) in [
        ("checkout.session.async_payment_succeeded", "paid", 100),
        ("checkout.session.async_payment_failed", "failed", 0),
    ] {
        let begun = shop.begun(status).await;
        let path = format!(
            "/v1/checkout/sessions/{}",
            begun["checkoutId"].as_str().unwrap()
        );
        let waiting = shop.stripe.set(
            &path,
            json!({"status": "complete", "payment_status": "unpaid", "payment_intent": "pi_1"}),
        );
        let way = |status: &str| json!({"id": "pi_1", "amount_received": 0, "status": status});
        let intent = "/v1/payment_intents/pi_1";
        shop.stripe.put(intent, way("processing"));
        shop.report(COMPLETED, &waiting).await.expect(200);
        assert_eq!(shop.order(&begun["orderId"]).await["status"], "pending");
        let payment = if balance > 0 { "paid" } else { "unpaid" };
        let session = shop.stripe.set(&path, json!({"payment_status": payment}));
        if balance == 0 {
            shop.stripe.put(intent, way("requires_payment_method"));
        }
        shop.report(outcome, &session).await.expect(200);
        let order = shop.order(&begun["orderId"]).await;
        assert_eq!(
            (&order["status"], &order["balance"]),
            (&json!(status), &json!(balance))
        );
    }
}

#[tokio::test]
async fn a_paid_order_says_to_a_secret_key_how_it_was_paid() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    assert!(shop.order(&begun["orderId"]).await["payment"].is_null());
    shop.pay(&begun).await;
    let order = shop.order(&begun["orderId"]).await;
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
    let path = format!("/api/v1/orders/{}", begun["orderId"].as_str().unwrap());
    let seen = shop.service.publishable.get(&path).await.expect(200);
    assert!(seen.get("payment").is_none());
}

#[tokio::test]
async fn a_closed_session_expires_its_order() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let path = format!(
        "/v1/checkout/sessions/{}",
        begun["checkoutId"].as_str().unwrap()
    );
    let session = shop.stripe.set(&path, json!({"status": "expired"}));
    shop.report("checkout.session.expired", &session)
        .await
        .expect(200);
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "expired");
}

#[tokio::test]
async fn an_order_that_was_never_placed_is_fulfilled_by_what_its_session_says() {
    let shop = Shop::open().await;
    for (target, user) in [
        (json!({"externalUserId": "ann"}), Some("ann")),
        (json!({}), None),
    ] {
        let begun = shop.checkout(target).await.expect(200);
        let mut session = shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
        // As if the service had crashed between the session and its order.
        let known: domain::id::OrderId = begun["orderId"].as_str().unwrap().parse().unwrap();
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
fn marks(shop: &Shop, begun: &Value) -> Value {
    json!({
        "scrip_project_id": shop.service.project.id.to_string(),
        "scrip_order_id": begun["orderId"],
    })
}

#[tokio::test]
async fn refunds_take_what_they_are_worth_and_no_more() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    shop.pay(&begun).await;
    shop.service.grant("ann", 1000).await;
    let charged = |refunded: i64| {
        shop.stripe
            .charged("pi_1", &marks(&shop, &begun), 500, refunded)
    };
    shop.report("charge.refunded", &charged(200))
        .await
        .expect(200);
    assert_eq!(shop.order(&begun["orderId"]).await["refundedCents"], 200);
    // One of two refunds failed, so its credits are returned. The event's own copy is outdated.
    let old = charged(200);
    charged(100);
    shop.report("charge.refunded", &old).await.expect(200);
    assert_eq!(shop.order(&begun["orderId"]).await["refundedCents"], 100);
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
    let order = shop.order(&begun["orderId"]).await;
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
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let charge = shop.stripe.charged("pi_1", &marks(&shop, &begun), 500, 500);
    shop.report("charge.refunded", &charge).await.expect(200);
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "pending");
    shop.pay(&begun).await;
    let order = shop.order(&begun["orderId"]).await;
    assert_eq!(
        (&order["status"], &order["balance"]),
        (&json!("refunded"), &json!(0))
    );
}

#[tokio::test]
async fn a_dispute_takes_and_gives_back() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    shop.pay(&begun).await;
    shop.stripe.charged("pi_1", &marks(&shop, &begun), 500, 0);
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
        shop.order(&begun["orderId"]).await["balance"],
        100,
        "an inquiry takes nothing"
    );
    shop.report("charge.dispute.created", &dispute("needs_response"))
        .await
        .expect(200);
    let open = shop.order(&begun["orderId"]).await;
    assert_eq!(
        (&open["status"], &open["balance"]),
        (&json!("refunded"), &json!(0))
    );
    shop.report("charge.dispute.closed", &dispute("won"))
        .await
        .expect(200);
    let won = shop.order(&begun["orderId"]).await;
    assert_eq!(
        (&won["status"], &won["balance"]),
        (&json!("paid"), &json!(100))
    );
    let expected = [(100, "purchase"), (-100, "refund"), (100, "refund")];
    assert_eq!(shop.service.ledger("ann").await, lines(&expected));
}

#[tokio::test]
async fn a_subscription_is_renewed_switched_and_ends() {
    let shop = Shop::open().await;
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
    let begun = shop.begun_with("ann", &tier).await;
    let mut subscription = shop.subscribe(&begun, "sub_1").await;
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
    shop.tell("customer.subscription.updated", &subscription)
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
    shop.tell("customer.subscription.updated", &subscription)
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
    shop.say(&subscription);
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
    shop.tell("customer.subscription.deleted", &subscription)
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
    let shop = Shop::open().await;
    let tier = shop.add_tier(500).await;
    let begun = shop.begun_with("ann", &tier).await;
    let mut subscription = shop.subscribe(&begun, "sub_1").await;
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
    shop.say(&subscription);
    shop.report("customer.subscription.updated", &subscription)
        .await
        .expect(200);
    assert_eq!(
        shop.service.ledger("ann").await,
        lines(&[(500, "purchase"), (-500, "expiry"), (500, "purchase")])
    );
}

/// Runs rounds until all events are processed.
async fn worked_off(shop: &Shop) {
    for _ in 0..60 {
        if shop.service.payments.inbox().waiting() == 0 {
            return;
        }
        shop.rounds(1).await;
    }
    panic!("something still waits after a minute");
}

#[tokio::test]
async fn a_report_of_what_the_account_does_not_know_yet_is_kept() {
    let shop = Shop::open().await;
    let tier = shop.add_tier(500).await;
    let begun = shop.begun_with("ann", &tier).await;
    // The key of another account, which has no such subscription.
    let missing = json!({"error": {"type": "invalid_request_error", "code": "resource_missing"}});
    for _ in 0..3 {
        let path = "/v1/subscriptions/sub_1";
        shop.stripe
            .instead(path, Override::Status(404, missing.clone()));
    }
    shop.subscribe(&begun, "sub_1").await;
    worked_off(&shop).await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn orders_are_asked_about_also_after_a_sandboxs_clock_was_left() {
    let shop = Shop::open().await;
    let project = shop.service.project.id;
    let set = async |provider| {
        let nothing = ProjectChange::default();
        let catalog = &shop.service.catalog;
        catalog
            .update_project(project, nothing, Some(provider))
            .await
            .unwrap();
        let payments = &shop.service.payments;
        payments.end_former_provider(project).await.unwrap();
    };
    set(ProviderChange::Sandbox).await;
    shop.service.advance(365 * 86_400).await;
    set(ProviderChange::Stripe {
        secret_key: Some(stripe::SECRET_KEY.into()),
        webhook_secret: Some(stripe::WEBHOOK_SECRET.into()),
    })
    .await;
    let begun = shop.begun("ann").await;
    shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    shop.service.handle.fold_all().await.unwrap();
    shop.service.clock.advance_millis(11 * 60 * 1000);
    shop.service.ask_about_pending().await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn what_the_provider_must_be_asked_about_is_tried_again() {
    let shop = Shop::open().await;
    let tier = shop.add_tier(500).await;
    let begun = shop.begun_with("ann", &tier).await;
    shop.stripe
        .instead("/v1/subscriptions/sub_1", Override::Garbage);
    shop.stripe
        .instead("/v1/subscriptions/sub_1", Override::Status(503, json!({})));
    shop.subscribe(&begun, "sub_1").await;
    worked_off(&shop).await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn a_lost_webhook_loses_no_payment() {
    let shop = Shop::open().await;
    let (paid, closed, open) = (
        shop.begun("ann").await,
        shop.begun("bea").await,
        shop.begun("cleo").await,
    );
    shop.stripe.pay(paid["checkoutId"].as_str().unwrap());
    let path = format!(
        "/v1/checkout/sessions/{}",
        closed["checkoutId"].as_str().unwrap()
    );
    shop.stripe.set(&path, json!({"status": "expired"}));
    shop.service.handle.fold_all().await.unwrap();
    shop.service.ask_about_pending().await;
    assert_eq!(
        shop.order(&paid["orderId"]).await["status"],
        "pending",
        "not asked about yet"
    );
    shop.service.clock.advance_millis(11 * 60 * 1000);
    shop.service.ask_about_pending().await;
    for (begun, status) in [(&paid, "paid"), (&closed, "expired"), (&open, "pending")] {
        assert_eq!(shop.order(&begun["orderId"]).await["status"], status);
    }
    let asked = shop
        .stripe
        .calls(&format!(
            "/v1/checkout/sessions/{}",
            open["checkoutId"].as_str().unwrap()
        ))
        .len();
    shop.service.ask_about_pending().await;
    let again = shop
        .stripe
        .calls(&format!(
            "/v1/checkout/sessions/{}",
            open["checkoutId"].as_str().unwrap()
        ))
        .len();
    assert_eq!(asked, again, "once for each age");
}

#[tokio::test]
async fn money_on_its_way_is_asked_about_after_the_order_expired() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    shop.stripe.debit(begun["checkoutId"].as_str().unwrap());
    shop.service.handle.fold_all().await.unwrap();
    let hour = 3600 * 1000;
    shop.service.clock.advance_millis(hour);
    shop.service.ask_about_pending().await;
    shop.service.clock.advance_millis(48 * hour);
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "expired");
    shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    shop.service.round().await;
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}

/// The machine's clock was put back by an hour, which the service's own clock follows slowly.
#[tokio::test]
async fn a_signature_is_as_old_as_the_machines_clock_says() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let session = shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    shop.service.clock.be_ahead(3600 * 1000);
    let machine = shop.seconds() - 3600;
    for (signed, status) in [(shop.seconds(), 400), (machine - 301, 400), (machine, 200)] {
        let kind = "checkout.session.completed";
        let (body, header) = stripe::event("evt_1", kind, &session, signed);
        let reply = shop.deliver(&body, &header).await;
        assert_eq!(reply.status, status, "signed {} s before", machine - signed);
    }
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
}
