//! `POST /orders/{orderIdOrCheckoutId}/refund`: refunds by a caller.

mod parts;
mod provider;

use domain::catalog::KeyKind;
use reqwest::Method;
use scrip::catalog::SandboxChange;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    sandbox_shop::{DAY, SandboxShop},
    service::{Service, assert_invalid, assert_refused, header},
};

const REPLAYED: &str = "idempotency-replayed";

async fn refund(service: &Service, order: &str, body: Value) -> Reply {
    let path = format!("/api/v1/orders/{order}/refund");
    service.secret.post(&path, &body).await
}

async fn read(shop: &SandboxShop, order: &str) -> Value {
    let path = format!("/api/v1/orders/{order}");
    shop.service.secret.get(&path).await.expect(200)
}

/// 100 credits for 5.00, bought by Ann; the order.
async fn paid_order() -> (SandboxShop, String) {
    let shop = SandboxShop::open().await;
    let checkout = shop.buy_credits("ann").await;
    let order = checkout["orderId"].as_str().unwrap().to_owned();
    (shop, order)
}

fn back(order: &Value) -> (&str, i64, i64) {
    let number = |name: &str| order[name].as_i64().unwrap();
    (
        order["status"].as_str().unwrap(),
        number("refundedCents"),
        number("balance"),
    )
}

/// Stripe keeps the failures under the keys that were used, says so, and repeats them.
#[tokio::test]
async fn once_the_provider_is_well_the_same_key_goes_on() {
    let (shop, order) = paid_order().await;
    let path = "/script/fault-profile";
    shop.ask(Method::POST, path, "failed_posts=1000").await;
    let body = json!({"idempotencyKey": "k"});
    for _ in 0..3 {
        let failed = refund(&shop.service, &order, body.clone()).await;
        assert_refused(&failed, 502, "provider_error");
    }
    // No more fail, and those that did are repeated.
    shop.ask(Method::POST, path, "failed_posts=1").await;
    let refunded = refund(&shop.service, &order, body.clone()).await;
    assert_eq!(back(&refunded.expect(200)), ("refunded", 500, 0));
    let again = refund(&shop.service, &order, body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
}

#[tokio::test]
async fn a_whole_order_goes_back_and_its_credits_with_it() {
    let (shop, order) = paid_order().await;
    let body = json!({"idempotencyKey": "k"});
    let reply = refund(&shop.service, &order, body.clone()).await;
    assert_eq!(header(&reply, REPLAYED), None);
    let refunded = reply.expect(200);
    assert_eq!(back(&refunded), ("refunded", 500, 0));
    assert_eq!(refunded["id"], order);
    assert!(refunded["payment"]["paymentId"].is_string(), "{refunded}");
    assert!(refunded["receiptUrl"].is_string(), "{refunded}");
    let again = refund(&shop.service, &order, body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(back(&again.expect(200)), ("refunded", 500, 0));
    let more = refund(&shop.service, &order, json!({"idempotencyKey": "other"})).await;
    assert_refused(&more, 409, "already_refunded");
    assert_eq!(more.body["refundableCents"], 0);
}

#[tokio::test]
async fn parts_go_back_one_by_one_until_nothing_is_left() {
    let (shop, order) = paid_order().await;
    let part = |cents: i64, key: &str| json!({"amountCents": cents, "idempotencyKey": key});
    let first = refund(&shop.service, &order, part(125, "a"))
        .await
        .expect(200);
    assert_eq!(back(&first), ("paid", 125, 75));
    let much = refund(&shop.service, &order, part(376, "b")).await;
    assert_refused(&much, 409, "already_refunded");
    assert_eq!(much.body["refundableCents"], 375);
    let second = refund(&shop.service, &order, part(250, "b"))
        .await
        .expect(200);
    assert_eq!(back(&second), ("paid", 375, 25));
    // Repeating a finished refund's key returns the order's current state.
    let again = refund(&shop.service, &order, part(125, "a")).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(back(&again.expect(200)), ("paid", 375, 25));
    let rest = refund(&shop.service, &order, json!({"idempotencyKey": "c"})).await;
    assert_eq!(back(&rest.expect(200)), ("refunded", 500, 0));
}

#[tokio::test]
async fn a_key_names_one_order_and_one_amount() {
    let (shop, order) = paid_order().await;
    let other = shop.buy_credits("ann").await;
    let other = other["orderId"].as_str().unwrap();
    let body = json!({"amountCents": 100, "idempotencyKey": "k"});
    refund(&shop.service, &order, body.clone())
        .await
        .expect(200);
    for (order, body) in [
        (&*order, json!({"amountCents": 101, "idempotencyKey": "k"})),
        (&*order, json!({"idempotencyKey": "k"})),
        (other, body.clone()),
    ] {
        let reused = refund(&shop.service, order, body).await;
        assert_refused(&reused, 409, "idempotency_key_reused");
    }
    // Grants and deductions have keys of their own.
    shop.service.grant("ann", 5).await;
    let header = json!({"amountCents": 100});
    let path = format!("/api/v1/orders/{order}/refund");
    let request = shop.service.secret.request(Method::POST, &path);
    let request = request.header("idempotency-key", "k").json(&header);
    let reply = Client::send(request).await.unwrap();
    assert_eq!(reply.headers[REPLAYED], "true", "the header is the key");
}

#[tokio::test]
async fn an_order_is_named_by_its_checkout_too() {
    let shop = SandboxShop::open().await;
    let checkout_page = shop.buy_credits("ann").await;
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    let body = json!({"idempotencyKey": "k"});
    let reply = refund(&shop.service, checkout, body).await.expect(200);
    assert_eq!(reply["id"], checkout_page["orderId"]);
}

#[tokio::test]
async fn of_an_order_without_money_nothing_goes_back() {
    let shop = SandboxShop::open().await;
    let body = json!({"idempotencyKey": "k"});
    let checkout = shop.checkout(json!({"externalUserId": "ann"})).await;
    let pending = checkout["orderId"].as_str().unwrap();
    for button in [None, Some("expire")] {
        if let Some(button) = button {
            shop.press(&checkout, button).await;
        }
        let reply = refund(&shop.service, pending, body.clone()).await;
        assert_refused(&reply, 409, "already_refunded");
        assert_eq!(reply.body["refundableCents"], 0);
    }
}

#[tokio::test]
async fn renewals_switches_and_first_cycles_are_refunded_too() {
    let shop = SandboxShop::open().await;
    let tiers = shop.tiers().await;
    shop.buy("ann", &tiers.small).await;
    shop.service.advance(32 * DAY).await;
    shop.switch("ann", &tiers.large).await;
    let orders = shop.orders().await;
    let kinds: Vec<&str> = orders.iter().map(|o| o["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["switch", "renewal", "checkout"]);
    for order in &orders {
        let kind = order["kind"].as_str().unwrap();
        assert!(order["receiptUrl"].is_string(), "{order}");
        assert!(order["payment"]["paymentId"].is_string(), "{order}");
        let id = order["id"].as_str().unwrap();
        let body = json!({"idempotencyKey": kind});
        let refunded = refund(&shop.service, id, body).await.expect(200);
        assert_eq!(refunded["status"], "refunded", "{refunded}");
        assert_eq!(refunded["refundedCents"], order["amountCents"]);
    }
    assert_eq!(shop.wallet("ann").await["balances"][0]["balance"], 0);
}

#[tokio::test]
async fn a_refund_that_fails_in_the_end_can_be_made_again_under_another_key() {
    let (shop, order) = paid_order().await;
    let payment = read(&shop, &order).await["payment"]["paymentId"].clone();
    let payment = payment.as_str().unwrap();
    let charge = format!("/script/charges/{payment}");
    shop.ask(Method::POST, &charge, "refunds=pending").await;
    let body = json!({"idempotencyKey": "k"});
    refund(&shop.service, &order, body.clone())
        .await
        .expect(200);
    let path = format!("/v1/refunds?payment_intent={payment}");
    let refunds = shop.ask(Method::GET, &path, "").await;
    let newest = refunds["data"][0]["id"].as_str().unwrap();
    let fail = format!("/script/refunds/{newest}/fail");
    shop.ask(Method::POST, &fail, "failure_reason=declined")
        .await;
    shop.service.advance(DAY).await;
    assert_eq!(back(&read(&shop, &order).await), ("paid", 0, 100));
    let again = refund(&shop.service, &order, body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"), "it was done");
    assert_eq!(back(&again.expect(200)), ("paid", 0, 100));
    let other = json!({"idempotencyKey": "other"});
    let other = refund(&shop.service, &order, other).await.expect(200);
    assert_eq!(other["refundedCents"], 500);
}

#[tokio::test]
async fn permission_and_request_are_checked_first() {
    let (shop, order) = paid_order().await;
    let service = &shop.service;
    let body = json!({"idempotencyKey": "k"});
    let path = format!("/api/v1/orders/{order}/refund");
    let reply = service.publishable.post(&path, &body).await;
    assert_refused(&reply, 403, "secret_key_required");
    let stranger = service.stranger(KeyKind::Secret).await;
    assert_refused(&stranger.post(&path, &body).await, 404, "order_not_found");
    for unknown in ["ord_0", "cs_none", "x"] {
        let reply = refund(&shop.service, unknown, body.clone()).await;
        assert_refused(&reply, 404, "order_not_found");
    }
    assert_invalid(
        &refund(&shop.service, &order, json!({})).await,
        "idempotencyKey",
    );
    for cents in [json!(0), json!(-1), json!(1.5), json!("1")] {
        let body = json!({"amountCents": cents, "idempotencyKey": "k"});
        assert_invalid(&refund(&shop.service, &order, body).await, "amountCents");
    }
    assert_eq!(back(&read(&shop, &order).await), ("paid", 0, 100));
}

#[tokio::test]
async fn a_project_without_a_provider_answers_what_it_knows() {
    let (shop, order) = paid_order().await;
    let body = json!({"amountCents": 100, "idempotencyKey": "k"});
    refund(&shop.service, &order, body.clone())
        .await
        .expect(200);
    // A project without a provider knows no orders.
    let other = Service::start().await;
    let path = format!("/api/v1/orders/{order}/refund");
    let reply = other.secret.post(&path, &body).await;
    assert_refused(&reply, 404, "order_not_found");
}

#[tokio::test]
async fn the_refundable_rest_is_the_rest_at_the_provider() {
    let (shop, order) = paid_order().await;
    // Webhooks are delayed by an hour.
    let late = SandboxChange {
        delay_seconds: Some(3600),
        ..SandboxChange::default()
    };
    shop.set(late).await;
    let payment = read(&shop, &order).await["payment"]["paymentId"].clone();
    let form = format!("payment_intent={}&amount=300", payment.as_str().unwrap());
    shop.ask(Method::POST, "/v1/refunds", &form).await;
    assert_eq!(read(&shop, &order).await["refundedCents"], 0);
    let body = json!({"idempotencyKey": "k"});
    let rest = refund(&shop.service, &order, body).await.expect(200);
    assert_eq!(back(&rest), ("refunded", 500, 0));
}

#[tokio::test]
async fn a_disputed_order_refunds_what_the_bank_has_not_withheld() {
    let (shop, order) = paid_order().await;
    let payment = read(&shop, &order).await["payment"]["paymentId"].clone();
    let form = format!("payment_intent={}&amount=200", payment.as_str().unwrap());
    shop.ask(Method::POST, "/script/disputes", &form).await;
    shop.service.advance(60).await;
    let body = json!({"amountCents": 301, "idempotencyKey": "k"});
    let much = refund(&shop.service, &order, body).await;
    assert_refused(&much, 409, "already_refunded");
    assert_eq!(much.body["refundableCents"], 300);
    // While a bank decides, the provider refunds nothing.
    let body = json!({"amountCents": 300, "idempotencyKey": "k"});
    let refused = refund(&shop.service, &order, body.clone()).await;
    assert_refused(&refused, 409, "already_refunded");
    assert_eq!(refused.body["refundableCents"], 0);
    let why = refused.body["message"].as_str().unwrap();
    assert!(why.contains("has been charged back"), "{why}");
    let disputes = shop.ask(Method::GET, "/v1/disputes", "").await;
    let dispute = disputes["data"][0]["id"].clone();
    let win = format!("/script/disputes/{}/win", dispute.as_str().unwrap());
    shop.ask(Method::POST, &win, "").await;
    shop.service.advance(60).await;
    let refunded = refund(&shop.service, &order, body).await.expect(200);
    assert_eq!(back(&refunded), ("paid", 300, 40));
}
