//! Replays, and what an event says long after it happened.

use std::collections::BTreeMap;

use kit::receiver::{Received, Receiver, ScriptedResponse};
use reqwest::Method;
use scrip::outbound::webhooks::Running;
use serde_json::{Value, json};

use crate::{
    deliveries::{ServiceWithEndpoint, ask, created, credited, near},
    service::{Service, assert_invalid, assert_refused},
    stripe::{self, Stripe},
    stripe_shop::StripeShop,
};

pub(super) async fn replay(hooked: &ServiceWithEndpoint, delivery: &Value) -> Value {
    let delivery = delivery["id"].as_str().unwrap();
    let path = format!("/{}/deliveries/{delivery}/replay", hooked.id);
    hooked.ask(Method::POST, &path, None).await.expect(202)
}

pub(super) async fn replay_since(hooked: &ServiceWithEndpoint, since: &str) -> Value {
    let path = format!("/{}/replay", hooked.id);
    let body = Some(json!({"since": since}));
    hooked.ask(Method::POST, &path, body).await.expect(202)
}

#[tokio::test]
async fn what_was_delivered_is_delivered_again_when_asked_for() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    let before = hooked.deliveries("").await;
    let again = replay(&hooked, &before["deliveries"][1]).await;
    assert_eq!(again["eventId"], before["deliveries"][1]["eventId"]);
    assert_ne!(again["id"], before["deliveries"][1]["id"]);
    assert_eq!(
        (&again["status"], &again["attempts"]),
        (&json!("pending"), &json!([]))
    );
    hooked.settled().await;
    assert_eq!(
        hooked.summaries(),
        [created("ann"), credited("ann", 1), created("ann")]
    );
    let received = hooked.receiver.received();
    assert_eq!(
        received[0].header("webhook-id"),
        received[2].header("webhook-id")
    );
    let after = hooked.deliveries("").await;
    assert_eq!(after["deliveries"].as_array().unwrap().len(), 3);
    assert_eq!(after["deliveries"][0]["id"], again["id"]);
    assert_eq!(after["deliveries"][0]["status"], "succeeded");
}

#[tokio::test]
async fn what_is_pending_is_tried_at_once_when_asked_for() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.next(ScriptedResponse::Status(500));
    hooked.service.code().await;
    hooked.settled().await;
    let page = hooked.deliveries("").await;
    let pending = &page["deliveries"][0];
    let again = replay(&hooked, pending).await;
    assert_eq!(again["id"], pending["id"]);
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 2);
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"].as_array().unwrap().len(), 1);
    assert_eq!(
        page["deliveries"][0]["attempts"].as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn what_is_asked_for_by_hand_takes_no_attempt_away() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.always(Some(ScriptedResponse::Status(500)));
    hooked.service.code().await;
    hooked.settled().await;
    let page = hooked.deliveries("").await;
    let planned = page["deliveries"][0]["nextAttemptAt"].clone();
    for asked in 1..=12 {
        replay(&hooked, &page["deliveries"][0]).await;
        hooked.settled().await;
        assert_eq!(hooked.summaries().len(), 1 + asked);
    }
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"][0]["status"], "pending");
    assert_eq!(page["deliveries"][0]["nextAttemptAt"], planned);
    let attempts = |page: &Value| {
        let attempts = page["deliveries"][0]["attempts"].as_array();
        attempts.unwrap().len()
    };
    assert_eq!(attempts(&page), 13);
    let minutes = [1, 6, 34, 3 * 60, 6 * 60, 12 * 60, 16 * 60, 23 * 60, 27 * 60];
    for (tried, minutes) in (13..).zip(minutes) {
        assert_eq!(hooked.summaries().len(), tried);
        let page = hooked.deliveries("").await;
        assert_eq!(page["deliveries"][0]["status"], "pending");
        hooked.pass(minutes * 60).await;
    }
    assert_eq!(hooked.summaries().len(), 12 + 10);
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"][0]["status"], "failed");
    assert_eq!(attempts(&page), 20, "the oldest are forgotten");
}

#[tokio::test]
async fn all_since_an_instant_is_sent_again_in_order() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.grant("ann", 1).await;
    hooked.pass(60).await;
    hooked.grant("ann", 2).await;
    hooked.grant("bob", 3).await;
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 5);
    let replayed = replay_since(&hooked, "2026-11-18T11:07:00Z").await;
    assert_eq!(replayed, json!({"count": 3}));
    hooked.settled().await;
    let mut again = hooked.summaries().split_off(5);
    again.sort();
    assert_eq!(
        again,
        [created("bob"), credited("ann", 3), credited("bob", 3)]
    );
    let replayed = replay_since(&hooked, "2020-01-01T00:00:00Z").await;
    assert_eq!(replayed, json!({"count": 5}));
    hooked.settled().await;
    let of_ann: Vec<_> = hooked.summaries()[8..]
        .iter()
        .filter(|(_, user, _)| user == "ann")
        .cloned()
        .collect();
    assert_eq!(
        of_ann,
        [created("ann"), credited("ann", 1), credited("ann", 3)]
    );
    let nothing = replay_since(&hooked, "2030-01-01T00:00:00Z").await;
    assert_eq!(nothing, json!({"count": 0}));
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 13);
}

#[tokio::test]
async fn what_cannot_be_sent_again_is_refused() {
    let hooked = ServiceWithEndpoint::start().await;
    let path = format!("/{}/replay", hooked.id);
    for body in [
        json!({}),
        json!({"since": "yesterday"}),
        json!({"since": 5}),
    ] {
        assert_invalid(&hooked.ask(Method::POST, &path, Some(body)).await, "since");
    }
    let never = "dlv_7zzzzzzzzzzzzzzzzzzzzzzzzz";
    let path = format!("/{}/deliveries/{never}/replay", hooked.id);
    assert_refused(
        &hooked.ask(Method::POST, &path, None).await,
        404,
        "delivery_not_found",
    );
    let path = format!("/{}/deliveries?cursor=x", hooked.id);
    assert_invalid(&hooked.ask(Method::GET, &path, None).await, "cursor");
}

/// A shop whose webhooks go to an endpoint; two purchases, one by a user and one that created a code.
async fn two_purchases() -> (StripeShop, Receiver, Running, String) {
    let stripe = Stripe::start().await;
    let base = stripe.base.parse().unwrap();
    let service = Service::with(|config| {
        near(config);
        config.stripe.api_base = base;
    });
    let shop = StripeShop::of(stripe, service.await, Some(stripe::WEBHOOK_SECRET)).await;
    let receiver = Receiver::start().await;
    let running = shop.service.webhooks.start();
    let project = shop.service.project.id.to_string();
    let place = (shop.service.base.as_str(), project.as_str());
    let endpoint = ask(place, Method::POST, "", Some(json!({"url": receiver.url}))).await;
    let id = endpoint.expect(201)["id"].as_str().unwrap().to_owned();
    let of_ann = shop.open_checkout("ann").await;
    shop.pay(&of_ann).await;
    let of_nobody = shop.checkout(json!({})).await.expect(200);
    shop.pay(&of_nobody).await;
    let body = json!({"externalUserId": "ann", "feature": "beta"});
    let granted = shop.service.secret.post("/api/v1/features", &body).await;
    granted.expect(200);
    shop.service.webhooks.settled().await;
    (shop, receiver, running, id)
}

/// The body of each event by its id, as it was first delivered.
fn bodies(received: &[Received]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for received in received {
        let body = String::from_utf8(received.raw.clone()).unwrap();
        let id = received.header("webhook-id").to_owned();
        let first = all.entry(id).or_insert_with(|| body.clone());
        assert_eq!(*first, body, "each delivery is the same");
    }
    all
}

#[tokio::test]
async fn an_event_never_changes_after_it_was_recorded() {
    let (shop, receiver, running, endpoint) = two_purchases().await;
    let first = bodies(&receiver.received());
    let orders = first.values().filter(|body| body.contains("order.paid"));
    let orders: Vec<Value> = orders.map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(orders.len(), 2);
    for order in &orders {
        assert_eq!(order["data"]["order"]["status"], "paid");
        assert_eq!(order["data"]["order"]["balance"], 100);
    }
    let code = orders[1]["data"]["order"]["code"].as_str().unwrap();

    // The service continues with everything.
    let secret = &shop.service.secret;
    let rotate = format!("/api/v1/wallets/{code}/rotate");
    secret.post(&rotate, &json!({})).await.expect(200);
    let body = json!({"externalUserId": "ann", "feature": "beta", "action": "revoke"});
    secret.post("/api/v1/features", &body).await.expect(200);
    let deduct = json!({"externalUserId": "ann", "amount": 7, "idempotencyKey": "k"});
    let path = "/api/v1/wallets/external/deduct";
    secret.post(path, &deduct).await.expect(200);
    for order in &orders {
        let order = &order["data"]["order"];
        let marks = json!({
            "scrip_project_id": shop.service.project.id.to_string(),
            "scrip_order_id": order["id"],
        });
        let payment = order["payment"]["paymentId"].as_str().unwrap();
        let charge = shop.stripe.charged(payment, &marks, 500, 500);
        shop.report("charge.refunded", &charge).await.expect(200);
        assert_eq!(shop.order(&order["id"]).await["status"], "refunded");
    }
    shop.service.clock.advance_millis(5 * 24 * 3_600_000);

    // Replayed, and read from the feed, also after a restart.
    let project = shop.service.project.id.to_string();
    let since = Some(json!({"since": "2026-11-01T00:00:00.000Z"}));
    let place = (shop.service.base.as_str(), project.as_str());
    let replay = format!("/{endpoint}/replay");
    let again = ask(place, Method::POST, &replay, since).await.expect(202);
    shop.service.webhooks.settled().await;
    let sent = receiver.received();
    assert!(sent.len() >= 2 * first.len() && again["count"] == json!(bodies(&sent).len()));
    drop(running);
    let shop = shop.again().await;
    let request = shop.service.secret.request(Method::GET, "/api/v1/events");
    let page = request.send().await.unwrap().text().await.unwrap();
    for (id, body) in bodies(&sent) {
        let body = body.strip_prefix('{').unwrap();
        let event = format!("{{\"id\":\"{id}\",{body}");
        assert!(page.contains(&event), "{event} is not in {page}");
    }
}

/// Free credits of an unused wallet are reported at its next use.
#[tokio::test]
async fn a_late_recorded_event_has_both_its_times() {
    let hooked = ServiceWithEndpoint::start().await;
    let service = &hooked.service;
    let expires = "2026-11-20T00:00:00.000Z";
    let body = json!({"externalUserId": "ann", "productId": service.product, "amount": 5,
        "idempotencyKey": "k", "expiresAt": expires});
    service
        .secret
        .post("/api/v1/credit", &body)
        .await
        .expect(200);
    service.clock.advance_millis(60 * 24 * 3_600_000);
    service.grant("bob", 1).await;
    let path = "/api/v1/wallets/external?externalUserId=ann";
    service.secret.get(path).await.expect(200);
    service.handle.fold_all().await.unwrap();
    hooked.settled().await;
    let deliveries = hooked.receiver.received();
    let depleted = deliveries
        .iter()
        .find(|it| it.body["type"] == "wallet.depleted");
    let depleted = &depleted.unwrap().body;
    assert_eq!(depleted["timestamp"], expires);
    assert_eq!(depleted["recordedAt"], "2027-01-17T11:06:40.000Z");
    // A replay since the first of January contains them, as they were recorded later.
    let sent = replay_since(&hooked, "2027-01-01T00:00:00.000Z").await;
    assert_eq!(sent, json!({"count": 3}));
}
