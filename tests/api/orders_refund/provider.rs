//! Refunds when the provider is silent, fails, refuses or knows more.

use std::sync::Arc;

use domain::text::IdempotencyKey;
use reqwest::Method;
use scrip::payments;
use serde_json::{Value, json};

use super::{REPLAYED, back, refund};
use crate::{
    service::{assert_refused, header},
    stripe::Override,
    stripe_shop::StripeShop,
};

const REFUND: &str = "POST /v1/refunds";

/// An order at the double of Stripe.
async fn sold() -> (StripeShop, String) {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let order = checkout["orderId"].as_str().unwrap().to_owned();
    shop.pay(&checkout).await;
    (shop, order)
}

/// Number of refund requests.
fn asked(shop: &StripeShop) -> usize {
    let calls = shop.stripe.calls("/v1/refunds");
    calls.iter().filter(|it| it.method == Method::POST).count()
}

fn broken() -> Value {
    json!({"error": {"type": "api_error", "message": "It broke."}})
}

#[tokio::test]
async fn the_name_of_a_refund_is_kept_with_it() {
    let (shop, order) = sold().await;
    let body = json!({"amountCents": 200, "idempotencyKey": "k"});
    let refunded = refund(&shop.service, &order, body).await.expect(200);
    assert_eq!(back(&refunded), ("paid", 200, 60));
    let receipt = "https://pay.example/receipts/ch_1";
    assert_eq!(refunded["receiptUrl"], receipt);
    let calls = shop.stripe.calls("/v1/refunds");
    let call = calls.iter().find(|it| it.method == Method::POST).unwrap();
    assert_eq!(call.form["payment_intent"], "pi_1");
    assert_eq!(call.form["amount"], "200");
    assert_eq!(call.form["metadata[scrip_operation]"], call.operation);
}

#[tokio::test]
async fn two_at_once_under_one_key_ask_once() {
    let (shop, order) = sold().await;
    let body = json!({"amountCents": 100, "idempotencyKey": "k"});
    let both = [(); 8].map(|()| refund(&shop.service, &order, body.clone()));
    let replies = futures_util::future::join_all(both).await;
    assert!(replies.iter().all(|reply| reply.status == 200));
    let fresh = replies.iter().filter(|it| header(it, REPLAYED).is_none());
    assert_eq!((fresh.count(), asked(&shop)), (1, 1));
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 100);
}

#[tokio::test]
async fn two_keys_at_once_give_back_no_more_than_there_is() {
    let (shop, order) = sold().await;
    let bodies = (0..6).map(|n| json!({"amountCents": 200, "idempotencyKey": n.to_string()}));
    let all = bodies.map(|body| refund(&shop.service, &order, body));
    let replies = futures_util::future::join_all(all).await;
    let done = replies.iter().filter(|reply| reply.status == 200);
    assert_eq!((done.count(), asked(&shop)), (2, 2));
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        assert_refused(reply, 409, "already_refunded");
    }
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 400);
}

#[tokio::test]
async fn a_failure_that_the_provider_keeps_is_gone_past() {
    let (shop, order) = sold().await;
    for _ in 0..2 {
        shop.stripe.instead(REFUND, Override::Kept(500, broken()));
    }
    let body = json!({"amountCents": 200, "idempotencyKey": "k"});
    let failed = refund(&shop.service, &order, body.clone()).await;
    assert_refused(&failed, 502, "provider_error");
    // It counts as long as its result is unknown.
    let more = json!({"amountCents": 301, "idempotencyKey": "more"});
    let more = refund(&shop.service, &order, more).await;
    assert_refused(&more, 409, "already_refunded");
    assert_eq!(more.body["refundableCents"], 300);
    let refunded = refund(&shop.service, &order, body.clone()).await;
    assert_eq!(back(&refunded.expect(200)), ("paid", 200, 60));
    let again = refund(&shop.service, &order, body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 200);
}

#[tokio::test]
async fn what_was_done_behind_a_failure_is_not_done_again() {
    let (shop, order) = sold().await;
    shop.stripe.instead(REFUND, Override::Done(500, broken()));
    let body = json!({"amountCents": 200, "idempotencyKey": "k"});
    let refunded = refund(&shop.service, &order, body).await.expect(200);
    assert_eq!(back(&refunded), ("paid", 200, 60));
    assert_eq!(asked(&shop), 1, "it was found by its name");
}

/// An older failure does not always say that it was replayed.
#[tokio::test]
async fn after_a_failure_that_left_no_refund_another_key_is_asked_under() {
    let (shop, order) = sold().await;
    let body = json!({"amountCents": 200, "idempotencyKey": "k"});
    for _ in 0..2 {
        shop.stripe.instead(REFUND, Override::Status(500, broken()));
    }
    let failed = refund(&shop.service, &order, body.clone()).await;
    assert_refused(&failed, 502, "provider_error");
    shop.stripe.instead(REFUND, Override::Status(500, broken()));
    let refunded = refund(&shop.service, &order, body).await.expect(200);
    assert_eq!(back(&refunded), ("paid", 200, 60));
    let calls = shop.stripe.calls("/v1/refunds").into_iter();
    let calls = calls.filter(|call| call.method == Method::POST);
    let keys: Vec<String> = calls.map(|call| call.operation).collect();
    assert_eq!(keys.len(), 4);
    assert_eq!(
        keys[0], keys[2],
        "each instruction tries the same key first"
    );
    assert!(keys[1] != keys[0] && keys[3] != keys[1] && keys[3] != keys[0]);
}

#[tokio::test]
async fn a_refusal_frees_what_it_counted_and_the_key() {
    let (shop, order) = sold().await;
    let no = json!({"error": {
        "type": "invalid_request_error", "code": "balance_insufficient", "message": "Not now.",
    }});
    shop.stripe.instead(REFUND, Override::Kept(400, no));
    let body = json!({"amountCents": 400, "idempotencyKey": "k"});
    let refused = refund(&shop.service, &order, body.clone()).await;
    assert_refused(&refused, 502, "provider_error");
    let other = json!({"amountCents": 100, "idempotencyKey": "other"});
    refund(&shop.service, &order, other).await.expect(200);
    let refunded = refund(&shop.service, &order, body).await.expect(200);
    assert_eq!(back(&refunded), ("refunded", 500, 0));
}

#[tokio::test]
async fn the_provider_judges_last() {
    let (shop, order) = sold().await;
    // 3.00 was refunded at the provider, and no webhook reported it.
    let path = "/v1/charges/ch_1";
    shop.stripe.set(path, json!({"amount_refunded": 300}));
    let much = json!({"amountCents": 201, "idempotencyKey": "k"});
    let reply = refund(&shop.service, &order, much).await;
    assert_refused(&reply, 409, "already_refunded");
    assert_eq!(reply.body["refundableCents"], 200);
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 300);
    // Only what remains there can be refunded.
    shop.stripe.set(path, json!({"amount_refunded": 400}));
    let rest = refund(&shop.service, &order, json!({"idempotencyKey": "k"})).await;
    assert_eq!(back(&rest.expect(200)), ("refunded", 500, 0));
    let last = refund(&shop.service, &order, json!({"idempotencyKey": "last"})).await;
    assert_refused(&last, 409, "already_refunded");
    let refused = shop.stripe.complaints();
    assert_eq!(refused.len(), 2, "more than was left: {refused:?}");
}

#[tokio::test]
async fn a_name_is_found_among_many_refunds() {
    let (shop, order) = sold().await;
    for number in 0..120 {
        let body = json!({"amountCents": 1, "idempotencyKey": number.to_string()});
        refund(&shop.service, &order, body).await.expect(200);
    }
    shop.stripe.instead(REFUND, Override::Done(500, broken()));
    let body = json!({"amountCents": 2, "idempotencyKey": "k"});
    refund(&shop.service, &order, body.clone()).await;
    // A hundred newer ones come before it in the list.
    for number in 200..320 {
        let body = json!({"amountCents": 1, "idempotencyKey": number.to_string()});
        refund(&shop.service, &order, body).await.expect(200);
    }
    let before = asked(&shop);
    refund(&shop.service, &order, body).await.expect(200);
    assert_eq!(asked(&shop), before);
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 242);
}

async fn give(
    shop: &StripeShop,
    order: &str,
    key: &str,
) -> Result<payments::KeyedResult<actors::OrderAnswer>, payments::Error> {
    let project = shop.service.catalog.project(shop.service.project.id);
    let project: Arc<_> = project.unwrap();
    let key = IdempotencyKey::new(key).unwrap();
    let payments = &shop.service.payments;
    payments
        .refund(project, order.parse().unwrap(), Some(200), key)
        .await
}

/// With a clock that only timers advance, as the test's own client would not wait so long.
#[tokio::test(start_paused = true)]
async fn a_silent_provider_times_out_and_the_same_key_continues() {
    let (shop, order) = sold().await;
    for instead in [Override::DoneInSilence, Override::Silence] {
        for _ in 0..3 {
            shop.stripe.instead(REFUND, instead.clone());
        }
    }
    let started = tokio::time::Instant::now();
    let silent = give(&shop, &order, "k").await;
    assert!(
        matches!(
            silent,
            Err(payments::Error::Provider(
                payments_port::Error::Unavailable { .. }
            ))
        ),
        "{silent:?}"
    );
    let seconds = started.elapsed().as_secs();
    assert!((20..22).contains(&seconds), "{seconds}");
    let given = give(&shop, &order, "k").await.unwrap();
    assert!(!given.replayed);
    assert_eq!(given.after.order.reversal.refunded_cents, 200);
    assert!(give(&shop, &order, "k").await.unwrap().replayed);
}

#[tokio::test]
async fn a_free_order_has_nothing_to_give_back() {
    let shop = StripeShop::open().await;
    let checkout_page = shop.open_checkout("ann").await;
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let path = format!("/v1/checkout/sessions/{checkout}");
    let free = json!({"amount_total": 0, "payment_intent": null});
    let session = shop.stripe.set(&path, free);
    let response = shop.report("checkout.session.completed", &session).await;
    response.expect(200);
    let order = checkout_page["orderId"].as_str().unwrap();
    assert_eq!(
        shop.order(&checkout_page["orderId"]).await["status"],
        "paid"
    );
    let reply = refund(&shop.service, order, json!({"idempotencyKey": "k"})).await;
    assert_refused(&reply, 409, "already_refunded");
    assert_eq!(reply.body["refundableCents"], 0);
    let why = reply.body["message"].as_str().unwrap();
    assert!(why.contains("nothing was paid"), "{why}");
    assert!(shop.stripe.calls("/v1/refunds").is_empty());
}
