//! `POST /checkout` under an idempotency key: a repeat answers the same checkout for a day.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{assert_invalid, assert_refused, header},
    stripe_shop::StripeShop,
};

const REPLAYED: &str = "idempotency-replayed";
const HOUR_MILLIS: i64 = 3_600_000;

async fn ask(shop: &StripeShop, client: &Client, fields: Value) -> Reply {
    shop.checkout_with(client, fields).await
}

#[tokio::test]
async fn a_repeat_answers_the_same_checkout_for_a_day() {
    let shop = StripeShop::open().await;
    let secret = &shop.service.secret;
    let body = json!({"externalUserId": "ann", "idempotencyKey": "k"});
    let first = ask(&shop, secret, body.clone()).await;
    assert_eq!(header(&first, REPLAYED), None);
    let first = first.expect(200);
    let again = ask(&shop, secret, body.clone()).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(again.expect(200), first);
    let by_header = secret.request(Method::POST, "/api/v1/checkout");
    let by_header = by_header.header("Idempotency-Key", "k");
    let unnamed = json!({"externalUserId": "ann", "priceId": shop.price});
    let by_header = Client::send(by_header.json(&unnamed)).await.unwrap();
    assert_eq!(by_header.expect(200), first);
    assert_eq!(shop.stripe.calls("/v1/checkout/sessions").len(), 1);
    // Also once it is paid, and after a restart.
    shop.pay(&first).await;
    shop.service.clock.advance_millis(24 * HOUR_MILLIS - 1);
    let shop = shop.again().await;
    let again = ask(&shop, &shop.service.secret, body.clone()).await;
    assert_eq!(again.expect(200), first);
    shop.service.clock.advance_millis(1);
    let other = ask(&shop, &shop.service.secret, body).await;
    assert_eq!(header(&other, REPLAYED), None);
    assert_ne!(other.expect(200)["orderId"], first["orderId"]);
}

#[tokio::test]
async fn a_key_is_its_wallets_and_its_purchases_own() {
    let shop = StripeShop::open().await;
    let secret = &shop.service.secret;
    let first = json!({"externalUserId": "ann", "idempotencyKey": "k"});
    let opened = ask(&shop, secret, first.clone()).await.expect(200);
    let other_price = shop.service.add_price(7).await;
    for change in [json!({"priceId": other_price}), json!({"quantity": 2})] {
        let mut body = first.clone();
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let reply = ask(&shop, secret, body).await;
        assert_refused(&reply, 409, "idempotency_key_reused");
    }
    for wallet in [json!({"externalUserId": "bob"}), json!({})] {
        let mut body = wallet;
        body["idempotencyKey"] = json!("k");
        let reply = ask(&shop, secret, body).await.expect(200);
        assert_ne!(reply["orderId"], opened["orderId"]);
    }
    // A session is its wallet: the server may have asked before it.
    let session = shop.service.session(json!({"externalUserId": "ann"})).await;
    let same = ask(&shop, &session, json!({"idempotencyKey": "k"})).await;
    assert_eq!(same.expect(200), opened);
    let empty = json!({"externalUserId": "ann", "idempotencyKey": ""});
    assert_invalid(&ask(&shop, secret, empty).await, "idempotencyKey");
}

#[tokio::test]
async fn a_stranger_who_guesses_a_key_gets_no_others_order() {
    let shop = StripeShop::open().await;
    let body = json!({"idempotencyKey": "order-1"});
    let by_server = ask(&shop, &shop.service.secret, body.clone())
        .await
        .expect(200);
    let by_page = ask(&shop, &shop.service.publishable, body.clone())
        .await
        .expect(200);
    assert_ne!(by_page["orderId"], by_server["orderId"]);
    let again = ask(&shop, &shop.service.publishable, body)
        .await
        .expect(200);
    assert_eq!(again, by_page, "the same client");
}

#[tokio::test]
async fn callers_at_once_open_one_checkout() {
    let shop = StripeShop::open().await;
    let body = json!({"externalUserId": "ann", "priceId": shop.price, "idempotencyKey": "k"});
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let (secret, body) = (shop.service.secret.clone(), body.clone());
            tokio::spawn(async move { secret.post("/api/v1/checkout", &body).await.expect(200) })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(shop.stripe.calls("/v1/checkout/sessions").len(), 1);
}

#[tokio::test]
async fn a_checkout_that_failed_uses_up_no_key() {
    let shop = StripeShop::open().await;
    let body = json!({"externalUserId": "ann", "idempotencyKey": "k", "discountCode": "NONE"});
    let refused = ask(&shop, &shop.service.secret, body).await;
    assert_refused(&refused, 400, "invalid_discount_code");
    let body = json!({"externalUserId": "ann", "idempotencyKey": "k"});
    let opened = ask(&shop, &shop.service.secret, body).await;
    assert_eq!(header(&opened, REPLAYED), None);
    opened.expect(200);
}
