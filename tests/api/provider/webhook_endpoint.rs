//! The webhook endpoint at Stripe, which the service creates and maintains.

use kit::stripe::{self, Stripe};
use scrip::{config::PublicUrl, providers::EndpointOutcome};
use serde_json::{Value, json};

use crate::{service::Service, stripe_shop::StripeShop};

const ENDPOINTS: &str = "/v1/webhook_endpoints";

/// A shop with a public address, for which only a key was set.
async fn public() -> StripeShop {
    let stripe = Stripe::start().await;
    let service = Service::with(|config| {
        config.stripe.api_base = stripe.base.parse().unwrap();
        config.public_url = PublicUrl::parse("https://pay.example");
    });
    let service = service.await;
    StripeShop::of(stripe, service, None).await
}

async fn keep(shop: &StripeShop) -> EndpointOutcome {
    let id = shop.service.project.id;
    let project = shop.service.catalog.project(id).unwrap();
    let kept = shop.service.accounts.maintain_endpoint(&project).await;
    kept.unwrap()
}

/// Number of requests that create or change endpoints.
fn changes(shop: &StripeShop) -> usize {
    let calls = shop.stripe.calls(ENDPOINTS);
    calls.iter().filter(|call| call.method == "POST").count()
}

#[tokio::test]
async fn it_is_made_once_and_its_secret_is_believed() {
    let shop = public().await;
    assert_eq!(keep(&shop).await, EndpointOutcome::Made);
    assert_eq!(keep(&shop).await, EndpointOutcome::Well);
    assert_eq!(changes(&shop), 1);
    let made = &shop.stripe.calls(ENDPOINTS)[1].form;
    let url = format!(
        "https://pay.example/webhooks/stripe/{}",
        shop.service.project.id
    );
    assert_eq!(made["url"], url);
    assert!(made.contains_key("enabled_events[19]"));
    // Signed with the secret from Stripe's response to the creation.
    let checkout = shop.open_checkout("ann").await;
    let session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    let (body, header) = stripe::event_signed(
        "whsec_1",
        "evt_1",
        "checkout.session.completed",
        &session,
        shop.seconds(),
    );
    shop.deliver(&body, &header).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
}

#[tokio::test(start_paused = true)]
async fn a_first_attempt_that_failed_is_made_again_soon() {
    let shop = public().await;
    let away = stripe::Override::Status(500, json!({}));
    shop.stripe.instead(ENDPOINTS, away);
    let _kept = shop.service.accounts.maintain_endpoints();
    let minutes = std::time::Duration::from_secs(300);
    let endpoint = kit::deadline::until("an endpoint", minutes, || {
        (changes(&shop) == 1).then_some(())
    });
    endpoint.await;
}

#[tokio::test]
async fn one_that_was_disabled_or_lacks_events_is_repaired() {
    let shop = public().await;
    keep(&shop).await;
    for broken in [
        json!({"status": "disabled"}),
        json!({"enabled_events": ["invoice.paid"]}),
    ] {
        let path = format!("{ENDPOINTS}/we_1");
        shop.stripe.set(&path, broken);
        assert_eq!(keep(&shop).await, EndpointOutcome::Repaired);
        assert_eq!(keep(&shop).await, EndpointOutcome::Well);
    }
}

#[tokio::test]
async fn an_endpoint_without_its_secret_is_recreated_and_others_are_kept() {
    let shop = public().await;
    let url = format!(
        "https://pay.example/webhooks/stripe/{}",
        shop.service.project.id
    );
    let endpoint = |project: Value| {
        json!({
            "id": "we_9", "url": url, "status": "enabled", "enabled_events": ["*"],
            "metadata": {"scrip_project_id": project},
        })
    };
    let path = format!("{ENDPOINTS}/we_9");
    shop.stripe.put(&path, endpoint(Value::Null));
    assert_eq!(keep(&shop).await, EndpointOutcome::NotOurs);
    let ours = json!(shop.service.project.id.to_string());
    shop.stripe.put(&path, endpoint(ours));
    assert_eq!(keep(&shop).await, EndpointOutcome::Made);
    assert_eq!(keep(&shop).await, EndpointOutcome::Well);
    let deleted = shop.stripe.calls(&path);
    assert!(deleted.iter().any(|call| call.method == "DELETE"));
}

#[tokio::test]
async fn without_a_public_address_there_is_none() {
    let shop = StripeShop::open().await;
    assert_eq!(keep(&shop).await, EndpointOutcome::NotOurs);
    assert!(shop.stripe.calls(ENDPOINTS).is_empty());
}

#[tokio::test]
async fn a_tier_that_was_archived_at_stripe_is_sold_again() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let buy = async |user: &str| {
        let target = json!({"priceId": tier, "externalUserId": user});
        shop.checkout(target).await
    };
    buy("ann").await.expect(200);
    let refused = json!({"error": {
        "type": "invalid_request_error", "param": "line_items[0][price]",
        "message": "The price specified is inactive. This field only accepts active prices.",
    }});
    shop.stripe.instead(
        "/v1/checkout/sessions",
        stripe::Override::Status(400, refused),
    );
    buy("bea").await.expect(200);
    let prices = shop.stripe.calls("/v1/prices");
    let made: Vec<_> = prices.iter().filter(|call| call.method == "POST").collect();
    assert_eq!(made.len(), 2, "one in its place");
    assert_ne!(
        made[0].operation, made[1].operation,
        "no answer is repeated"
    );
    let sessions = shop.stripe.calls("/v1/checkout/sessions");
    let sold: Vec<_> = sessions
        .iter()
        .map(|call| &call.form["line_items[0][price]"])
        .collect();
    assert_eq!(sold[0], sold[1]);
    assert_ne!(sold[1], sold[2]);
}
