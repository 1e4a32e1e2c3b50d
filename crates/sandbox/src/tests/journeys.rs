//! Purchases as our own client sees them, from the session to the refund.

use super::*;
use stripe::{
    charges::Charge,
    checkout_sessions::SessionStatus,
    disputes::{Dispute, DisputedMoney},
    id::{ChargeId, PaymentId},
    invoices::{BillingReason, InvoiceStatus},
    subscriptions::SubscriptionStatus,
};

fn key(text: &str) -> Operation {
    Operation::new(text).unwrap()
}

#[tokio::test]
async fn something_is_bought_once_and_given_back_in_two_parts() {
    let mut stage = Stage::new().await;
    let client = stage.client();
    let session = stage.session(credits(), Promotion::None).await;
    assert_eq!(session.email(), Some("ann@example.com"));
    let (status, said) = stage.act(&session.url.clone().unwrap(), "pay", "").await;
    assert_eq!(status, 200);
    assert_eq!(
        said["successUrl"],
        format!("https://shop.example/ok?session={}", session.id)
    );
    let read = client.read(&session.id).await.unwrap();
    assert!(read.is_paid());
    let intent = client
        .read(read.payment_intent.clone().unwrap().id())
        .await
        .unwrap();
    assert_eq!(intent.amount_received, 500);
    assert!(intent.metadata.order.is_some());
    assert_eq!(stage.sent_kinds(1).await, ["payment_intent.succeeded"]);
    let event = stage.came.recv().await.unwrap();
    assert_eq!(event.created, START / 1000);
    let completed: Session = event.about(&["checkout.session.completed"]);
    let intent_of = |session: &Session| session.payment_intent.clone().unwrap().id().clone();
    assert_eq!(intent_of(&completed), intent_of(&read));
    // Nothing is expanded in an event.
    let mut read = read;
    read.payment_intent = completed.payment_intent.clone();
    assert_eq!(completed, read);
    for (form, refunded, whole) in [("&amount=200", 200, false), ("", 500, true)] {
        let form = format!("payment_intent={}{form}", intent.id);
        assert_eq!(stage.send("refunds", &form).await.0, 200);
        let event = stage.came.recv().await.unwrap();
        let charge: Charge = event.about(&["charge.refunded"]);
        assert_eq!((charge.amount_refunded, charge.refunded), (refunded, whole));
        assert_eq!(charge.metadata.order, intent.metadata.order);
        assert_eq!(client.read(&charge.id).await.unwrap(), charge);
    }
}

#[tokio::test]
async fn a_session_is_expired_by_the_shop() {
    let mut stage = Stage::new().await;
    let session = stage.session(credits(), Promotion::None).await;
    let expired = stage
        .client()
        .post::<Session>(
            &["checkout", "sessions", session.id.as_str(), "expire"],
            &Form::new(),
            &key("x"),
        )
        .await
        .unwrap();
    assert_eq!(expired.status, Some(SessionStatus::Expired));
    assert_eq!(stage.sent_kinds(1).await, ["checkout.session.expired"]);
    assert_eq!(stage.act(&session.url.unwrap(), "pay", "").await.0, 409);
    assert!(
        stage
            .client()
            .post::<Session>(
                &["checkout", "sessions", session.id.as_str(), "expire"],
                &Form::new(),
                &key("y")
            )
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_promotion_code_makes_it_cheaper_or_free() {
    let stage = Stage::new().await;
    let client = stage.client();
    let code = client
        .find_promotion_code("SANDBOX20", None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        client.find_promotion_code("NOPE", None).await.unwrap(),
        None
    );
    let session = stage.session(credits(), Promotion::Code(code)).await;
    assert_eq!(session.amount_total, Some(400));
    let session = stage.session(credits(), Promotion::BuyerMayEnter).await;
    let url = session.url.unwrap();
    let (status, _) = stage.act(&url, "pay", r#"{"promotionCode":"nope"}"#).await;
    assert_eq!(status, 400);
    let (_, said) = stage
        .act(&url, "pay", r#"{"promotionCode":"SANDBOX100"}"#)
        .await;
    assert_eq!(said["paymentStatus"], "no_payment_required");
    let read = client.read(&session.id).await.unwrap();
    assert!(read.is_paid() && read.payment_intent.is_none());
}

#[tokio::test]
async fn a_later_payment_settles_or_fails() {
    let mut stage = Stage::new().await;
    for (action, kind) in [
        ("settle", "checkout.session.async_payment_succeeded"),
        ("fail", "checkout.session.async_payment_failed"),
    ] {
        let session = stage.session(credits(), Promotion::None).await;
        let url = session.url.unwrap();
        stage.act(&url, "pay_later", "").await;
        assert_eq!(stage.sent_kinds(1).await, ["checkout.session.completed"]);
        assert_eq!(stage.act(&url, action, "").await.0, 200);
        assert_eq!(stage.act(&url, action, "").await.0, 200);
        let count = if action == "settle" { 2 } else { 1 };
        assert_eq!(stage.sent_kinds(count).await.last().unwrap(), kind);
        stage.silent();
    }
}

/// A customer with a subscription to the first of two tiers, and the URL of their portal session.
async fn subscriber(stage: &mut Stage) -> (Session, StoredPrice, String) {
    let client = stage.client();
    let (small, large) = (stage.price(1, 1000).await, stage.price(2, 3000).await);
    let found = client
        .find_price(&new_price(1, 1000))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (found.id, found.product.id()),
        (small.id.clone(), small.product.id())
    );
    let update = "features[subscription_update]";
    let mut offer = format!(
        "features[invoice_history][enabled]=true&features[payment_method_update][enabled]=true\
         &features[subscription_cancel][enabled]=true&features[subscription_cancel][mode]=at_period_end\
         &{update}[enabled]=true&{update}[default_allowed_updates][0]=price\
         &{update}[proration_behavior]=always_invoice\
         &{update}[schedule_at_period_end][conditions][0][type]=decreasing_item_amount"
    );
    for (n, price) in [&small, &large].into_iter().enumerate() {
        let (product, price) = (price.product.id(), &price.id);
        let listed = format!("{update}[products][{n}]");
        offer += &format!("&{listed}[product]={product}&{listed}[prices][0]={price}");
    }
    let (status, said) = stage.send("billing_portal/configurations", &offer).await;
    assert_eq!(status, 200, "{said}");
    let session = stage
        .session(Item::Subscription(small.id), Promotion::None)
        .await;
    stage.act(&session.url.clone().unwrap(), "pay", "").await;
    stage.sent_kinds(4).await;
    let session = client.read(&session.id).await.unwrap();
    let visit = visit(stage, &session).await;
    (session, large, visit)
}

#[tokio::test]
async fn a_subscription_renews_by_the_clock() {
    let mut stage = Stage::new().await;
    let (session, _, _) = subscriber(&mut stage).await;
    let client = stage.client();
    let id = session.subscription.clone().unwrap().id().clone();
    let first = client
        .read(session.invoice.clone().unwrap().id())
        .await
        .unwrap();
    assert_eq!(
        first.billing_reason,
        Some(BillingReason::SubscriptionCreate)
    );
    assert_eq!(first.subscription_metadata().order, session.metadata.order);
    for days in [28, 59, 89] {
        let due = stage.sandbox.next_due(PROJECT).await.unwrap().unwrap();
        assert_eq!(due, Timestamp(START + days * DAY));
        stage.set_clock(due.0);
        stage.run().await;
        assert_eq!(stage.sent_kinds(1).await, ["customer.subscription.updated"]);
        let hour = stage.sandbox.next_due(PROJECT).await.unwrap().unwrap();
        assert_eq!(
            hour.0 - due.0,
            3_600_000,
            "its invoice is a draft for so long"
        );
        stage.set_clock(hour.0);
        stage.run().await;
        let sent = stage.sent_kinds(2).await;
        assert_eq!(sent, ["payment_intent.succeeded", "invoice.paid"]);
    }
    let subscription = client.read(&id).await.unwrap();
    let invoice = client
        .read(subscription.latest_invoice.unwrap().id())
        .await
        .unwrap();
    assert_eq!(
        invoice.billing_reason,
        Some(BillingReason::SubscriptionCycle)
    );
    assert_eq!(invoice.created, START / 1000 + 89 * DAY / 1000);
    assert_eq!(invoice.cycle_lines().next().unwrap().amount, 1000);
    let payments = client
        .invoice_payments_of_invoice(&invoice.id)
        .await
        .unwrap();
    let intent = payments[0].intent().unwrap().id().clone();
    let found = client.invoice_payments_of_intent(&intent).await.unwrap();
    assert_eq!(found[0].invoice.id(), &invoice.id);
}

#[tokio::test]
async fn a_tier_is_switched_up_at_once_and_down_later() {
    let mut stage = Stage::new().await;
    let (session, large, _) = subscriber(&mut stage).await;
    let client = stage.client();
    let id = session.subscription.clone().unwrap().id().clone();
    stage.set_clock(START + 14 * DAY);
    let json = format!(r#"{{"price":"{}"}}"#, large.id);
    let (status, state) = stage
        .act(&visit(&stage, &session).await, "switch", &json)
        .await;
    assert_eq!(status, 200, "{state}");
    let subscription = client.read(&id).await.unwrap();
    assert_eq!(subscription.items()[0].price.id, large.id);
    let invoice = client
        .read(subscription.latest_invoice.unwrap().id())
        .await
        .unwrap();
    assert_eq!(
        invoice.billing_reason,
        Some(BillingReason::SubscriptionUpdate)
    );
    assert_eq!(invoice.amount_paid, 1000);
    assert_eq!(invoice.cycle_lines().next(), None);
    stage.sent_kinds(3).await;
    let small = client
        .find_price(&new_price(1, 1000))
        .await
        .unwrap()
        .unwrap();
    let json = format!(r#"{{"price":"{}"}}"#, small.id);
    stage
        .act(&visit(&stage, &session).await, "switch", &json)
        .await;
    assert_eq!(
        client.read(&id).await.unwrap().items()[0].price.id,
        large.id
    );
    stage.set_clock(START + 28 * DAY);
    stage.run().await;
    assert_eq!(
        client.read(&id).await.unwrap().items()[0].price.id,
        small.id
    );
}

/// A new portal session: they last an hour. Without a configuration it has the newest one.
async fn visit(stage: &Stage, session: &Session) -> String {
    let form = format!("customer={}", session.customer.as_ref().unwrap());
    let (status, visit) = stage.send("billing_portal/sessions", &form).await;
    assert_eq!(status, 200, "{visit}");
    visit["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_declined_card_is_past_due_until_it_works_again() {
    let mut stage = Stage::new().await;
    let (session, _, portal) = subscriber(&mut stage).await;
    let client = stage.client();
    let id = session.subscription.clone().unwrap().id().clone();
    let (_, state) = stage.act(&portal, "card", r#"{"declines":true}"#).await;
    assert_eq!(state["cardDeclines"], true);
    stage.set_clock(START + 28 * DAY + 3_600_000);
    stage.run().await;
    let sent = stage.sent_kinds(3).await;
    assert_eq!(sent[2], "invoice.payment_failed");
    let subscription = client.read(&id).await.unwrap();
    assert_eq!(subscription.status, SubscriptionStatus::PastDue);
    let invoice = client
        .read(subscription.latest_invoice.unwrap().id())
        .await
        .unwrap();
    assert_eq!(
        (invoice.status, invoice.amount_paid),
        (Some(InvoiceStatus::Open), 0)
    );
    assert_eq!(stage.act(&portal, "pay_now", "").await.0, 404);
    let portal = visit(&stage, &session).await;
    assert_eq!(stage.act(&portal, "pay_now", "").await.0, 402);
    stage.act(&portal, "card", r#"{"declines":false}"#).await;
    let (status, state) = stage.act(&portal, "pay_now", "").await;
    assert_eq!(
        (status, &state["subscriptions"][0]["status"]),
        (200, &"active".into())
    );
    assert!(
        stage
            .sent_kinds(3)
            .await
            .contains(&"invoice.paid".to_owned())
    );
}

#[tokio::test]
async fn a_dispute_withholds_and_gives_back() {
    let mut stage = Stage::new().await;
    let (_, _, portal) = subscriber(&mut stage).await;
    for (action, money) in [
        (
            "dispute",
            vec![DisputedMoney::Withheld, DisputedMoney::Withheld],
        ),
        (
            "dispute_won",
            vec![DisputedMoney::Kept, DisputedMoney::Kept],
        ),
    ] {
        assert_eq!(stage.act(&portal, action, "").await.0, 200);
        for expected in money {
            let event = stage.came.recv().await.unwrap();
            let dispute: Dispute = event.about(&[
                "charge.dispute.created",
                "charge.dispute.funds_withdrawn",
                "charge.dispute.closed",
                "charge.dispute.funds_reinstated",
            ]);
            assert_eq!(dispute.money(), expected);
            let charge: Charge = stage.client().read(dispute.charge.id()).await.unwrap();
            assert_eq!(charge.payment_intent, dispute.payment_intent);
        }
    }
    assert_eq!(stage.act(&portal, "dispute_lost", "").await.0, 409);
    let (_, state) = stage.act(&portal, "refund", r#"{"amountCents":400}"#).await;
    assert_eq!(state["payments"][0]["refundedCents"], 400);
    let (charge, intent) = (
        &state["payments"][0]["charge"],
        &state["payments"][0]["paymentIntent"],
    );
    assert!(ChargeId::new(charge.as_str().unwrap()).is_ok());
    assert!(PaymentId::new(intent.as_str().unwrap()).is_ok());
    assert_eq!(stage.sent_kinds(1).await, ["charge.refunded"]);
}
