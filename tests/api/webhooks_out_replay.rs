//! Sending again what was sent, and going on after a crash.

use kit::receiver::Say;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    service::{Service, assert_invalid, assert_refused},
    webhooks_out::{Hooked, ask, created, credited, near},
};

async fn replay(hooked: &Hooked, delivery: &Value) -> Value {
    let delivery = delivery["id"].as_str().unwrap();
    let path = format!("/{}/deliveries/{delivery}/replay", hooked.id);
    hooked.ask(Method::POST, &path, None).await.expect(202)
}

async fn replay_since(hooked: &Hooked, since: &str) -> Value {
    let path = format!("/{}/replay", hooked.id);
    let body = Some(json!({"since": since}));
    hooked.ask(Method::POST, &path, body).await.expect(202)
}

#[tokio::test]
async fn what_was_delivered_is_delivered_again_when_asked_for() {
    let hooked = Hooked::start().await;
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
        hooked.told(),
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
    let hooked = Hooked::start().await;
    hooked.receiver.next(Say::Status(500));
    hooked.service.code().await;
    hooked.settled().await;
    let page = hooked.deliveries("").await;
    let pending = &page["deliveries"][0];
    let again = replay(&hooked, pending).await;
    assert_eq!(again["id"], pending["id"]);
    hooked.settled().await;
    assert_eq!(hooked.told().len(), 2);
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"].as_array().unwrap().len(), 1);
    assert_eq!(
        page["deliveries"][0]["attempts"].as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn what_is_asked_for_by_hand_takes_no_attempt_away() {
    let hooked = Hooked::start().await;
    hooked.receiver.always(Some(Say::Status(500)));
    hooked.service.code().await;
    hooked.settled().await;
    let page = hooked.deliveries("").await;
    let planned = page["deliveries"][0]["nextAttemptAt"].clone();
    for asked in 1..=12 {
        replay(&hooked, &page["deliveries"][0]).await;
        hooked.settled().await;
        assert_eq!(hooked.told().len(), 1 + asked);
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
        assert_eq!(hooked.told().len(), tried);
        let page = hooked.deliveries("").await;
        assert_eq!(page["deliveries"][0]["status"], "pending");
        hooked.pass(minutes * 60).await;
    }
    assert_eq!(hooked.told().len(), 12 + 10);
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"][0]["status"], "failed");
    assert_eq!(attempts(&page), 20, "the oldest are forgotten");
}

#[tokio::test]
async fn all_since_an_instant_is_sent_again_in_order() {
    let hooked = Hooked::start().await;
    hooked.grant("ann", 1).await;
    hooked.pass(60).await;
    hooked.grant("ann", 2).await;
    hooked.grant("bob", 3).await;
    hooked.settled().await;
    assert_eq!(hooked.told().len(), 5);
    let replayed = replay_since(&hooked, "2026-11-18T11:07:00Z").await;
    assert_eq!(replayed, json!({"count": 3}));
    hooked.settled().await;
    let mut again = hooked.told().split_off(5);
    again.sort();
    assert_eq!(
        again,
        [created("bob"), credited("ann", 3), credited("bob", 3)]
    );
    let replayed = replay_since(&hooked, "2020-01-01T00:00:00Z").await;
    assert_eq!(replayed, json!({"count": 5}));
    hooked.settled().await;
    let of_ann: Vec<_> = hooked.told()[8..]
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
    assert_eq!(hooked.told().len(), 13);
}

#[tokio::test]
async fn what_cannot_be_sent_again_is_refused() {
    let hooked = Hooked::start().await;
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

#[tokio::test]
async fn a_restart_goes_on_where_it_was() {
    let hooked = Hooked::start().await;
    hooked.receiver.of("ann", Some(Say::Status(500)));
    hooked.grant("ann", 1).await;
    hooked.grant("bob", 5).await;
    hooked.grant("ann", 2).await;
    hooked.settled().await;
    assert_eq!(hooked.told().len(), 3, "ann's first, and all of bob's");
    drop(hooked.running);
    let again = hooked.service.again(near).await;
    let (base, webhooks) = (&again.base, &again.webhooks);
    let running = webhooks.start();
    webhooks.settled().await;
    assert_eq!(
        hooked.receiver.told().len(),
        3,
        "it is not time yet, and nothing comes twice"
    );
    hooked.receiver.of("ann", None);
    hooked.service.clock.advance_millis(6000);
    webhooks.settled().await;
    let rest = hooked.receiver.told().split_off(3);
    assert_eq!(
        rest,
        [created("ann"), credited("ann", 1), credited("ann", 3)]
    );
    let project = hooked.service.project.id.to_string();
    let path = format!("/{}/deliveries", hooked.id);
    let page = ask((base, &project), Method::GET, &path, None)
        .await
        .expect(200);
    let deliveries = page["deliveries"].as_array().unwrap();
    assert_eq!(deliveries.len(), 5);
    assert!(deliveries.iter().all(|it| it["status"] == "succeeded"));
    assert_eq!(
        deliveries
            .iter()
            .map(|it| it["attempts"].as_array().unwrap().len())
            .sum::<usize>(),
        6
    );
    drop(running);
}

#[tokio::test]
async fn what_was_sent_and_not_noted_is_sent_again_after_a_crash() {
    let hooked = Hooked::start().await;
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    hooked.receiver.of("bob", Some(Say::Silence));
    hooked.grant("bob", 2).await;
    hooked.receiver.wait_for(3).await;
    // It dies while bob's first event is under way.
    drop(hooked.running);
    hooked.receiver.of("bob", None);
    let again = hooked.service.again(near).await;
    let webhooks = &again.webhooks;
    let _running = webhooks.start();
    webhooks.settled().await;
    let rest = hooked.receiver.told().split_off(3);
    assert_eq!(
        rest,
        [created("bob"), credited("bob", 2)],
        "and nothing of ann's"
    );
}

#[tokio::test]
async fn what_is_sent_again_goes_on_after_a_restart() {
    let hooked = Hooked::start().await;
    for user in ["ann", "bob", "cid"] {
        hooked.grant(user, 1).await;
    }
    hooked.settled().await;
    assert_eq!(hooked.told().len(), 6);
    hooked.change(json!({"active": false})).await.expect(200);
    assert_eq!(
        replay_since(&hooked, "2020-01-01T00:00:00Z").await,
        json!({"count": 6})
    );
    let page = hooked.deliveries("limit=1").await;
    replay(&hooked, &page["deliveries"][0]).await;
    drop(hooked.running);
    let again = hooked.service.again(near).await;
    let (base, webhooks) = (&again.base, &again.webhooks);
    let _running = webhooks.start();
    let project = hooked.service.project.id.to_string();
    let path = format!("/{}", hooked.id);
    let body = Some(json!({"active": true}));
    ask((base, &project), Method::PATCH, &path, body)
        .await
        .expect(200);
    webhooks.settled().await;
    assert_eq!(hooked.receiver.told().len(), 6 + 7);
}

#[tokio::test]
async fn an_endpoint_that_was_not_told_at_all_is_told_after_a_restart() {
    let service = Service::with(near).await;
    let hooked = Hooked::of(service).await;
    let Hooked {
        service,
        receiver,
        running,
        ..
    } = hooked;
    // As if it had died before anything could be sent.
    drop(running);
    service.grant("ann", 1).await;
    let again = service.again(near).await;
    let webhooks = &again.webhooks;
    let _running = webhooks.start();
    webhooks.settled().await;
    assert_eq!(receiver.told(), [created("ann"), credited("ann", 1)]);
}

#[tokio::test]
async fn the_end_waits_for_what_is_under_way_and_for_nothing_else() {
    let hooked = Hooked::start().await;
    hooked.receiver.always(Some(Say::Silence));
    hooked.grant("ann", 1).await;
    hooked.receiver.wait_for(1).await;
    let start = std::time::Instant::now();
    hooked
        .running
        .stop(std::time::Duration::from_secs(60))
        .await;
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    // Its attempt, which was given up after a second, is kept.
    hooked.receiver.always(None);
    let again = hooked.service.again(near).await;
    let _running = again.webhooks.start();
    again.webhooks.settled().await;
    assert_eq!(hooked.receiver.received().len(), 1, "it is not time yet");
    hooked.service.clock.advance_millis(6000);
    again.webhooks.settled().await;
    assert_eq!(
        hooked.receiver.told()[1..],
        [created("ann"), credited("ann", 1)]
    );
}
