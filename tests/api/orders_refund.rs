//! `POST /orders/{orderIdOrCheckoutId}/refund`

use std::sync::Arc;

use domain::{catalog::KeyKind, text::IdempotencyKey};
use reqwest::Method;
use scrip::{catalog::SandboxChange, payments};
use serde_json::{Value, json};

use crate::{
    counter::{Counter, DAY},
    service::{Service, assert_invalid, assert_refused, header},
    shop::Shop,
    stripe::Instead,
};

const REPLAYED: &str = "idempotency-replayed";

/// 100 credits for 5.00, bought by Ann; the order.
async fn bought() -> (Counter, String) {
    let counter = Counter::open().await;
    let begun = counter.buy("ann", &counter.price).await;
    let order = begun["orderId"].as_str().unwrap().to_owned();
    (counter, order)
}

fn back(order: &Value) -> (&str, i64, i64) {
    let number = |name: &str| order[name].as_i64().unwrap();
    (
        order["status"].as_str().unwrap(),
        number("refundedCents"),
        number("balance"),
    )
}

#[tokio::test]
async fn a_whole_order_goes_back_and_its_credits_with_it() {
    let (counter, order) = bought().await;
    let body = json!({"idempotencyKey": "k"});
    let reply = counter.refund(&order, body.clone()).await;
    assert_eq!(header(&reply, REPLAYED), None);
    let refunded = reply.expect(200);
    assert_eq!(back(&refunded), ("refunded", 500, 0));
    assert_eq!(refunded["id"], order);
    assert!(refunded["payment"]["paymentId"].is_string(), "{refunded}");
    assert!(refunded["receiptUrl"].is_string(), "{refunded}");
    let again = counter.refund(&order, body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(back(&again.expect(200)), ("refunded", 500, 0));
    let more = counter
        .refund(&order, json!({"idempotencyKey": "other"}))
        .await;
    assert_refused(&more, 409, "already_refunded");
    assert_eq!(more.body["refundableCents"], 0);
}

#[tokio::test]
async fn parts_go_back_one_by_one_until_nothing_is_left() {
    let (counter, order) = bought().await;
    let part = |cents: i64, key: &str| json!({"amountCents": cents, "idempotencyKey": key});
    let first = counter.refund(&order, part(125, "a")).await.expect(200);
    assert_eq!(back(&first), ("paid", 125, 75));
    let much = counter.refund(&order, part(376, "b")).await;
    assert_refused(&much, 409, "already_refunded");
    assert_eq!(much.body["refundableCents"], 375);
    let second = counter.refund(&order, part(250, "b")).await.expect(200);
    assert_eq!(back(&second), ("paid", 375, 25));
    // A key that is done answers how the order stands now.
    let again = counter.refund(&order, part(125, "a")).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(back(&again.expect(200)), ("paid", 375, 25));
    let rest = counter.refund(&order, json!({"idempotencyKey": "c"})).await;
    assert_eq!(back(&rest.expect(200)), ("refunded", 500, 0));
}

#[tokio::test]
async fn a_key_names_one_order_and_one_amount() {
    let (counter, order) = bought().await;
    let other = counter.buy("ann", &counter.price).await;
    let other = other["orderId"].as_str().unwrap();
    let body = json!({"amountCents": 100, "idempotencyKey": "k"});
    counter.refund(&order, body.clone()).await.expect(200);
    for (order, body) in [
        (&*order, json!({"amountCents": 101, "idempotencyKey": "k"})),
        (&*order, json!({"idempotencyKey": "k"})),
        (other, body.clone()),
    ] {
        let reused = counter.refund(order, body).await;
        assert_refused(&reused, 409, "idempotency_key_reused");
    }
    // A grant's or a deduction's keys are others.
    counter.service.grant("ann", 5).await;
    let header = json!({"amountCents": 100});
    let path = format!("/api/v1/orders/{order}/refund");
    let request = counter.service.secret.request(Method::POST, &path);
    let request = request.header("idempotency-key", "k").json(&header);
    let reply = crate::client::Client::send(request).await.unwrap();
    assert_eq!(reply.headers[REPLAYED], "true", "the header is the key");
}

#[tokio::test]
async fn an_order_is_named_by_its_checkout_too() {
    let counter = Counter::open().await;
    let begun = counter.buy("ann", &counter.price).await;
    let checkout = begun["checkoutId"].as_str().unwrap();
    let body = json!({"idempotencyKey": "k"});
    let reply = counter.refund(checkout, body).await.expect(200);
    assert_eq!(reply["id"], begun["orderId"]);
}

#[tokio::test]
async fn of_an_order_without_money_nothing_goes_back() {
    let counter = Counter::open().await;
    let body = json!({"idempotencyKey": "k"});
    let begun = counter.begin("ann", &counter.price).await;
    let pending = begun["orderId"].as_str().unwrap();
    for button in [None, Some("expire")] {
        if let Some(button) = button {
            counter.press(&begun, button).await;
        }
        let reply = counter.refund(pending, body.clone()).await;
        assert_refused(&reply, 409, "already_refunded");
        assert_eq!(reply.body["refundableCents"], 0);
    }
}

#[tokio::test]
async fn a_free_order_has_nothing_to_give_back() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let checkout = begun["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let path = format!("/v1/checkout/sessions/{checkout}");
    let free = json!({"amount_total": 0, "payment_intent": null});
    let session = shop.stripe.set(&path, free);
    let told = shop.report("checkout.session.completed", &session).await;
    told.expect(200);
    let order = begun["orderId"].as_str().unwrap();
    assert_eq!(shop.order(&begun["orderId"]).await["status"], "paid");
    let reply = refund(&shop, order, json!({"idempotencyKey": "k"})).await;
    assert_refused(&reply, 409, "already_refunded");
    assert_eq!(reply.body["refundableCents"], 0);
    assert!(shop.stripe.calls("/v1/refunds").is_empty());
}

#[tokio::test]
async fn renewals_switches_and_first_cycles_go_back_likewise() {
    let counter = Counter::open().await;
    let (_, [small, large]) = counter.plan().await;
    counter.buy("ann", &small).await;
    counter.service.advance(32 * DAY).await;
    counter.switch("ann", &large).await;
    let orders = counter.orders().await;
    let kinds: Vec<&str> = orders.iter().map(|o| o["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["switch", "renewal", "checkout"]);
    for order in &orders {
        let kind = order["kind"].as_str().unwrap();
        assert!(order["receiptUrl"].is_string(), "{order}");
        assert!(order["payment"]["paymentId"].is_string(), "{order}");
        let id = order["id"].as_str().unwrap();
        let body = json!({"idempotencyKey": kind});
        let refunded = counter.refund(id, body).await.expect(200);
        assert_eq!(refunded["status"], "refunded", "{refunded}");
        assert_eq!(refunded["refundedCents"], order["amountCents"]);
    }
    assert_eq!(counter.wallet("ann").await["balances"][0]["balance"], 0);
}

#[tokio::test]
async fn a_refund_that_fails_in_the_end_can_be_made_again_under_another_key() {
    let (counter, order) = bought().await;
    let payment = counter.order(&order).await["payment"]["paymentId"].clone();
    let payment = payment.as_str().unwrap();
    counter
        .script(&format!("charges/{payment}"), "refunds=pending")
        .await;
    let body = json!({"idempotencyKey": "k"});
    counter.refund(&order, body.clone()).await.expect(200);
    let path = format!("v1/refunds?payment_intent={payment}");
    let refunds = counter.call(Method::GET, &path, "").await.expect(200);
    let refund = refunds["data"][0]["id"].as_str().unwrap();
    let fail = format!("refunds/{refund}/fail");
    counter.script(&fail, "failure_reason=declined").await;
    counter.service.advance(DAY).await;
    assert_eq!(back(&counter.order(&order).await), ("paid", 0, 100));
    let again = counter.refund(&order, body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"), "it was done");
    assert_eq!(back(&again.expect(200)), ("paid", 0, 100));
    let other = json!({"idempotencyKey": "other"});
    let other = counter.refund(&order, other).await.expect(200);
    assert_eq!(other["refundedCents"], 500);
}

#[tokio::test]
async fn who_may_and_what_is_asked_is_checked_first() {
    let (counter, order) = bought().await;
    let service = &counter.service;
    let body = json!({"idempotencyKey": "k"});
    let path = format!("/api/v1/orders/{order}/refund");
    let reply = service.publishable.post(&path, &body).await;
    assert_refused(&reply, 403, "secret_key_required");
    let stranger = service.stranger(KeyKind::Secret).await;
    assert_refused(&stranger.post(&path, &body).await, 404, "order_not_found");
    for unknown in ["ord_0", "cs_none", "x"] {
        let reply = counter.refund(unknown, body.clone()).await;
        assert_refused(&reply, 404, "order_not_found");
    }
    assert_invalid(&counter.refund(&order, json!({})).await, "idempotencyKey");
    for cents in [json!(0), json!(-1), json!(1.5), json!("1")] {
        let body = json!({"amountCents": cents, "idempotencyKey": "k"});
        assert_invalid(&counter.refund(&order, body).await, "amountCents");
    }
    assert_eq!(back(&counter.order(&order).await), ("paid", 0, 100));
}

#[tokio::test]
async fn a_project_without_a_provider_answers_what_it_knows() {
    let (counter, order) = bought().await;
    let body = json!({"amountCents": 100, "idempotencyKey": "k"});
    counter.refund(&order, body.clone()).await.expect(200);
    // A project that never had one knows no orders.
    let other = Service::start().await;
    let path = format!("/api/v1/orders/{order}/refund");
    let reply = other.secret.post(&path, &body).await;
    assert_refused(&reply, 404, "order_not_found");
}

#[tokio::test]
async fn all_that_is_left_is_what_is_left_at_the_provider() {
    let (counter, order) = bought().await;
    // What happens there is told an hour later.
    let late = SandboxChange {
        delay_seconds: Some(3600),
        ..SandboxChange::default()
    };
    let project = counter.service.project.id;
    let set = counter.service.catalog.update_sandbox(project, late);
    set.await.unwrap();
    let payment = counter.order(&order).await["payment"]["paymentId"].clone();
    let form = format!("payment_intent={}&amount=300", payment.as_str().unwrap());
    let by_hand = counter.call(Method::POST, "v1/refunds", &form).await;
    by_hand.expect(200);
    assert_eq!(counter.order(&order).await["refundedCents"], 0);
    let body = json!({"idempotencyKey": "k"});
    let rest = counter.refund(&order, body).await.expect(200);
    assert_eq!(back(&rest), ("refunded", 500, 0));
}

#[tokio::test]
async fn a_disputed_order_gives_back_what_the_bank_leaves() {
    let (counter, order) = bought().await;
    let payment = counter.order(&order).await["payment"]["paymentId"].clone();
    let form = format!("payment_intent={}&amount=200", payment.as_str().unwrap());
    counter.script("disputes", &form).await;
    counter.service.advance(60).await;
    let body = json!({"amountCents": 301, "idempotencyKey": "k"});
    let much = counter.refund(&order, body).await;
    assert_refused(&much, 409, "already_refunded");
    assert_eq!(much.body["refundableCents"], 300);
    // While a bank decides, the provider gives nothing back.
    let body = json!({"amountCents": 300, "idempotencyKey": "k"});
    let refused = counter.refund(&order, body.clone()).await;
    assert_refused(&refused, 502, "provider_error");
    let disputes = counter.call(Method::GET, "v1/disputes", "").await;
    let dispute = disputes.expect(200)["data"][0]["id"].clone();
    let win = format!("disputes/{}/win", dispute.as_str().unwrap());
    counter.script(&win, "").await;
    counter.service.advance(60).await;
    let refunded = counter.refund(&order, body).await.expect(200);
    assert_eq!(back(&refunded), ("paid", 300, 40));
}

// What a provider may do otherwise.

const REFUND: &str = "POST /v1/refunds";

async fn refund(shop: &Shop, order: &str, body: Value) -> crate::client::Reply {
    let path = format!("/api/v1/orders/{order}/refund");
    shop.service.secret.post(&path, &body).await
}

/// The same at Stripe's double; the order.
async fn sold() -> (Shop, String) {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let order = begun["orderId"].as_str().unwrap().to_owned();
    let marks = json!({
        "scrip_project_id": shop.service.project.id.to_string(), "scrip_order_id": order,
    });
    shop.stripe.charged("pi_1", &marks, 500, 0);
    shop.pay(&begun).await;
    (shop, order)
}

/// How often money was asked to go back.
fn asked(shop: &Shop) -> usize {
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
    let refunded = refund(&shop, &order, body).await.expect(200);
    assert_eq!(back(&refunded), ("paid", 200, 60));
    let receipt = "https://pay.example/receipts/ch_of_pi_1";
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
    let both = [(); 8].map(|()| refund(&shop, &order, body.clone()));
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
    let all = bodies.map(|body| refund(&shop, &order, body));
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
    shop.stripe.instead(REFUND, Instead::Kept(500, broken()));
    let body = json!({"amountCents": 200, "idempotencyKey": "k"});
    let failed = refund(&shop, &order, body.clone()).await;
    assert_refused(&failed, 502, "provider_error");
    // It counts as long as nobody knows.
    let more = json!({"amountCents": 301, "idempotencyKey": "more"});
    let more = refund(&shop, &order, more).await;
    assert_refused(&more, 409, "already_refunded");
    assert_eq!(more.body["refundableCents"], 300);
    let done = refund(&shop, &order, body.clone()).await;
    assert_eq!(back(&done.expect(200)), ("paid", 200, 60));
    let again = refund(&shop, &order, body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 200);
}

#[tokio::test]
async fn what_was_done_behind_a_failure_is_not_done_again() {
    let (shop, order) = sold().await;
    shop.stripe.instead(REFUND, Instead::Done(500, broken()));
    let body = json!({"amountCents": 200, "idempotencyKey": "k"});
    let failed = refund(&shop, &order, body.clone()).await;
    assert_refused(&failed, 502, "provider_error");
    let done = refund(&shop, &order, body).await.expect(200);
    assert_eq!(back(&done), ("paid", 200, 60));
    assert_eq!(asked(&shop), 1, "it was found by its name");
}

#[tokio::test]
async fn a_refusal_frees_what_it_counted_and_the_key() {
    let (shop, order) = sold().await;
    let no = json!({"error": {
        "type": "invalid_request_error", "code": "balance_insufficient", "message": "Not now.",
    }});
    shop.stripe.instead(REFUND, Instead::Kept(400, no));
    let body = json!({"amountCents": 400, "idempotencyKey": "k"});
    let refused = refund(&shop, &order, body.clone()).await;
    assert_refused(&refused, 502, "provider_error");
    let other = json!({"amountCents": 100, "idempotencyKey": "other"});
    refund(&shop, &order, other).await.expect(200);
    let done = refund(&shop, &order, body).await.expect(200);
    assert_eq!(back(&done), ("refunded", 500, 0));
}

#[tokio::test]
async fn the_provider_judges_last() {
    let (shop, order) = sold().await;
    // Somebody gave 3.00 back by hand, and that was never told.
    let path = "/v1/charges/ch_of_pi_1";
    shop.stripe.set(path, json!({"amount_refunded": 300}));
    let much = json!({"amountCents": 201, "idempotencyKey": "k"});
    let reply = refund(&shop, &order, much).await;
    assert_refused(&reply, 409, "already_refunded");
    assert_eq!(reply.body["refundableCents"], 200);
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 300);
    // All that is left is what is left there.
    shop.stripe.set(path, json!({"amount_refunded": 400}));
    let rest = refund(&shop, &order, json!({"idempotencyKey": "k"})).await;
    assert_eq!(back(&rest.expect(200)), ("refunded", 500, 0));
    let last = refund(&shop, &order, json!({"idempotencyKey": "last"})).await;
    assert_refused(&last, 409, "already_refunded");
}

#[tokio::test]
async fn a_name_is_found_among_many_refunds() {
    let (shop, order) = sold().await;
    for number in 0..120 {
        let body = json!({"amountCents": 1, "idempotencyKey": number.to_string()});
        refund(&shop, &order, body).await.expect(200);
    }
    shop.stripe.instead(REFUND, Instead::Done(500, broken()));
    let body = json!({"amountCents": 2, "idempotencyKey": "k"});
    refund(&shop, &order, body.clone()).await;
    // A hundred more come in front of it.
    for number in 200..320 {
        let body = json!({"amountCents": 1, "idempotencyKey": number.to_string()});
        refund(&shop, &order, body).await.expect(200);
    }
    let before = asked(&shop);
    refund(&shop, &order, body).await.expect(200);
    assert_eq!(asked(&shop), before);
    assert_eq!(shop.order(&json!(order)).await["refundedCents"], 242);
}

async fn give(shop: &Shop, order: &str, key: &str) -> Result<payments::Refunded, payments::Error> {
    let project = shop.service.catalog.project(shop.service.project.id);
    let project: Arc<_> = project.unwrap();
    let key = IdempotencyKey::new(key).unwrap();
    let refunds = shop.service.payments.refunds();
    refunds
        .give(project, order.parse().unwrap(), Some(200), key)
        .await
}

/// By a clock that stands still but for timers; the test's own client would not wait so long.
#[tokio::test(start_paused = true)]
async fn a_silent_provider_is_given_up_and_the_same_key_goes_on() {
    let (shop, order) = sold().await;
    for instead in [Instead::DoneInSilence, Instead::Silence] {
        for _ in 0..3 {
            shop.stripe.instead(REFUND, instead.clone());
        }
    }
    let started = tokio::time::Instant::now();
    let silent = give(&shop, &order, "k").await;
    assert!(
        matches!(
            silent,
            Err(payments::Error::Provider(port::Error::Unavailable { .. }))
        ),
        "{silent:?}"
    );
    let seconds = started.elapsed().as_secs();
    assert!((20..22).contains(&seconds), "{seconds}");
    let given = give(&shop, &order, "k").await.unwrap();
    assert!(!given.replayed);
    assert_eq!(given.order.order.reversal.refunded_cents, 200);
    assert!(give(&shop, &order, "k").await.unwrap().replayed);
}
