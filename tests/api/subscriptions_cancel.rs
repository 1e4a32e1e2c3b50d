//! `POST /subscriptions/cancel`: at once or at the period's end.

use domain::catalog::KeyKind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Reply,
    sandbox_shop::{DAY, SandboxShop, Tiers},
    service::{NO_CODE, assert_invalid, assert_refused, header},
    stripe::Override,
    stripe_shop::StripeShop,
};

const CANCEL: &str = "/api/v1/subscriptions/cancel";
const REPLAYED: &str = "idempotency-replayed";

/// Ann has the small tier of a product.
async fn subscribed() -> (SandboxShop, String, Tiers) {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    (shop, tiers.product.clone(), tiers)
}

async fn cancel(shop: &SandboxShop, body: &Value) -> Reply {
    shop.service.secret.post(CANCEL, body).await
}

#[tokio::test]
async fn a_subscription_ends_with_its_period() {
    let (shop, product, tiers) = subscribed().await;
    let body = json!({"externalUserId": "ann", "productId": product, "idempotencyKey": "k"});
    let reply = cancel(&shop, &body).await;
    assert_eq!(header(&reply, REPLAYED), None);
    let ending = reply.expect(200);
    let subscription = &shop.wallet("ann").await["subscriptions"][0];
    assert_eq!(&ending, subscription, "as in the wallet");
    assert_eq!(
        (&ending["productId"], &ending["priceId"], &ending["label"]),
        (&json!(product), &json!(tiers.small), &json!("Small"))
    );
    assert_eq!(
        (&ending["status"], &ending["cancelAtPeriodEnd"]),
        (&json!("active"), &json!(true))
    );
    let again = cancel(&shop, &body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(again.expect(200), ending);
    shop.service.advance(32 * DAY).await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"], json!([]));
    assert_eq!(wallet["balances"][0]["balance"], 0, "what is left expires");
    // Repeating a cancellation of long ago returns the current state.
    let over = cancel(&shop, &body).await;
    assert_eq!(header(&over, REPLAYED), Some("true"));
    assert_eq!(over.expect(200)["status"], "canceled");
}

#[tokio::test]
async fn a_subscription_ends_at_once() {
    let (shop, product, tiers) = subscribed().await;
    let body = json!({
        "externalUserId": "ann", "productId": product, "atPeriodEnd": false, "idempotencyKey": "k",
    });
    let over = cancel(&shop, &body).await.expect(200);
    assert_eq!(over["status"], "canceled");
    assert_eq!(
        (&over["priceId"], &over["label"]),
        (&json!(tiers.small), &json!("Small"))
    );
    assert_eq!(over.get("cancelAtPeriodEnd"), None);
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"], json!([]));
    assert_eq!(wallet["features"], json!([]));
    let again = cancel(&shop, &body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
    assert_eq!(again.expect(200), over);
    let other = json!({"externalUserId": "ann", "productId": product, "idempotencyKey": "other"});
    assert_refused(&cancel(&shop, &other).await, 404, "subscription_not_found");
    // Another subscription can begin, and its cancellation needs another key.
    shop.buy("ann", &tiers.large).await;
    let checkout = cancel(&shop, &body).await.expect(200);
    assert_eq!(checkout["status"], "canceled", "that of the key");
    assert_eq!(
        shop.wallet("ann").await["subscriptions"][0]["status"],
        "active"
    );
}

#[tokio::test]
async fn a_tier_that_was_to_follow_does_not() {
    let (shop, product, tiers) = subscribed().await;
    shop.switch("ann", &tiers.large).await;
    // A switch down in the next cycle, by a schedule.
    shop.switch("ann", &tiers.small).await;
    let body = json!({"externalUserId": "ann", "productId": product, "idempotencyKey": "k"});
    let ending = cancel(&shop, &body).await.expect(200);
    assert_eq!(ending["cancelAtPeriodEnd"], true);
    shop.service.advance(32 * DAY).await;
    assert_eq!(shop.wallet("ann").await["subscriptions"], json!([]));
}

#[tokio::test]
async fn a_key_names_one_product_and_one_way() {
    let (shop, product, _) = subscribed().await;
    let mut body = json!({"externalUserId": "ann", "productId": product, "idempotencyKey": "k"});
    cancel(&shop, &body).await.expect(200);
    body["atPeriodEnd"] = json!(true);
    cancel(&shop, &body).await.expect(200);
    body["atPeriodEnd"] = json!(false);
    assert_refused(&cancel(&shop, &body).await, 409, "idempotency_key_reused");
    let other = shop.service.add_plan().await.to_string();
    let other = json!({"externalUserId": "ann", "productId": other, "idempotencyKey": "k"});
    assert_refused(&cancel(&shop, &other).await, 409, "idempotency_key_reused");
}

#[tokio::test]
async fn permission_and_request_are_checked_first() {
    let (shop, product, _) = subscribed().await;
    let service = &shop.service;
    let body = json!({"externalUserId": "ann", "productId": product, "idempotencyKey": "k"});
    let reply = service.publishable.post(CANCEL, &body).await;
    assert_refused(&reply, 403, "secret_key_required");
    let stranger = service.stranger(KeyKind::Secret).await;
    let reply = stranger.post(CANCEL, &body).await;
    assert_refused(&reply, 404, "product_not_found");
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body
    };
    for (body, status, code) in [
        (with("code", json!(NO_CODE)), 400, "conflicting_wallet"),
        (
            json!({"productId": product, "idempotencyKey": "k"}),
            400,
            "conflicting_wallet",
        ),
        (
            json!({"code": NO_CODE, "productId": product, "idempotencyKey": "k"}),
            404,
            "wallet_not_found",
        ),
        (
            with("externalUserId", json!("bob")),
            404,
            "wallet_not_found",
        ),
        (with("productId", json!("prod_0")), 404, "product_not_found"),
        (
            with("productId", json!(service.product)),
            404,
            "subscription_not_found",
        ),
    ] {
        assert_refused(&cancel(&shop, &body).await, status, code);
    }
    assert_invalid(
        &cancel(&shop, &with("idempotencyKey", Value::Null)).await,
        "idempotencyKey",
    );
    assert_invalid(
        &cancel(&shop, &with("atPeriodEnd", json!("no"))).await,
        "atPeriodEnd",
    );
    assert_eq!(
        shop.wallet("ann").await["subscriptions"][0].get("cancelAtPeriodEnd"),
        None
    );
}

// A provider that is silent, fails or refuses.

const SUB: &str = "/v1/subscriptions/sub_1";

async fn subscribed_at_stripe() -> (StripeShop, Value) {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let body = json!({"priceId": tier, "externalUserId": "ann"});
    let checkout = shop.checkout(body).await.expect(200);
    shop.subscribe(&checkout, "sub_1").await;
    let product = shop.product_of(&tier).to_string();
    let body = json!({"externalUserId": "ann", "productId": product, "idempotencyKey": "k"});
    (shop, body)
}

fn broken() -> Value {
    json!({"error": {"type": "api_error", "message": "It broke."}})
}

#[tokio::test]
async fn after_a_failure_the_same_key_goes_on() {
    let (shop, body) = subscribed_at_stripe().await;
    let post = format!("POST {SUB}");
    shop.stripe.instead(&post, Override::Kept(500, broken()));
    let failed = shop.service.secret.post(CANCEL, &body).await;
    assert_refused(&failed, 502, "provider_error");
    let subscription = &shop.wallet("ann").await["subscriptions"][0];
    assert_eq!(subscription.get("cancelAtPeriodEnd"), None);
    let reply = shop.service.secret.post(CANCEL, &body).await;
    assert_eq!(header(&reply, REPLAYED), None);
    assert_eq!(reply.expect(200)["cancelAtPeriodEnd"], true);
}

#[tokio::test]
async fn what_ended_behind_a_failure_has_ended() {
    let (shop, mut body) = subscribed_at_stripe().await;
    body["atPeriodEnd"] = json!(false);
    let delete = format!("DELETE {SUB}");
    shop.stripe.instead(&delete, Override::Done(500, broken()));
    let failed = shop.service.secret.post(CANCEL, &body).await;
    assert_refused(&failed, 502, "provider_error");
    // Another cancellation is refused: there is no such subscription any more.
    let reply = shop.service.secret.post(CANCEL, &body).await.expect(200);
    assert_eq!(reply["status"], "canceled");
    let again = shop.service.secret.post(CANCEL, &body).await;
    assert_eq!(header(&again, REPLAYED), Some("true"));
}

#[tokio::test]
async fn a_refusal_uses_up_no_key() {
    let (shop, body) = subscribed_at_stripe().await;
    let no = json!({"error": {"type": "invalid_request_error", "message": "Not now."}});
    let post = format!("POST {SUB}");
    shop.stripe.instead(&post, Override::Status(400, no));
    let refused = shop.service.secret.post(CANCEL, &body).await;
    assert_refused(&refused, 502, "provider_error");
    let mut otherwise = body.clone();
    otherwise["atPeriodEnd"] = json!(false);
    let reply = shop.service.secret.post(CANCEL, &otherwise).await;
    assert_eq!(reply.expect(200)["status"], "canceled");
}

#[tokio::test]
async fn two_at_once_under_one_key_ask_once() {
    let (shop, body) = subscribed_at_stripe().await;
    let both = [(); 8].map(|()| shop.service.secret.post(CANCEL, &body));
    for reply in futures_util::future::join_all(both).await {
        assert_eq!(reply.expect(200)["cancelAtPeriodEnd"], true);
    }
    let calls = shop.stripe.calls(SUB);
    let asked = calls.iter().filter(|it| it.method == Method::POST);
    assert_eq!(asked.count(), 1);
}
