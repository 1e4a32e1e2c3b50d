//! Webhooks to a project's own servers: signed, in order per wallet, with retries until they are accepted or
//! have failed for good.

mod disabled;
mod endpoints;
mod receivers;
mod replays;
mod restarts;
mod unread;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use kit::receiver::{Received, Receiver, ScriptedResponse};
use reqwest::Method;
use scrip::{config::Config, outbound::webhooks::Running};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{
    client::{Client, Reply},
    service::{ADMIN_TOKEN, Service},
};

pub(crate) const HOUR: i64 = 3600;

/// A service with a webhook endpoint.
pub(crate) struct ServiceWithEndpoint {
    pub(crate) service: Service,
    pub(crate) receiver: Receiver,
    /// The endpoint's id, `wh_…`.
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) running: Running,
}

/// Allows receivers on this machine, with a timeout that a busy machine can keep.
pub(crate) fn near(config: &mut Config) {
    config.webhooks.allow_private_networks = true;
    config.webhooks.timeout_seconds = 60;
}

/// Like [`near`], with a short timeout for receivers that do not answer.
pub(crate) fn impatient(config: &mut Config) {
    near(config);
    config.webhooks.timeout_seconds = 3;
}

/// A request to a project's webhook endpoints by the administrator.
pub(crate) async fn ask(
    (base, project): (&str, &str),
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Reply {
    let path = format!("/api/admin/v1/projects/{project}/webhooks{path}");
    let mut request = Client::new(base, ADMIN_TOKEN).request(method, &path);
    if let Some(body) = body {
        request = request.json(&body);
    }
    Client::send(request).await.unwrap()
}

impl ServiceWithEndpoint {
    pub(crate) async fn start() -> Self {
        Self::of(Service::with(near).await).await
    }

    pub(crate) async fn of(service: Service) -> Self {
        let receiver = Receiver::start().await;
        let running = service.webhooks.start();
        let mut hooked = Self {
            service,
            id: String::new(),
            secret: String::new(),
            running,
            receiver,
        };
        let endpoint = hooked.add(&hooked.receiver.url).await;
        hooked.id = endpoint["id"].as_str().unwrap().into();
        hooked.secret = endpoint["secret"].as_str().unwrap().into();
        hooked
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        let project = self.service.project.id.to_string();
        ask((&self.service.base, &project), method, path, body).await
    }

    /// Adds another endpoint.
    pub(crate) async fn add(&self, url: &str) -> Value {
        let endpoint = self.ask(Method::POST, "", Some(json!({"url": url}))).await;
        endpoint.expect(201)
    }

    /// The endpoint in its current state.
    pub(crate) async fn endpoint(&self) -> Value {
        let path = format!("/{}", self.id);
        self.ask(Method::GET, &path, None).await.expect(200)
    }

    pub(crate) async fn change(&self, body: Value) -> Reply {
        self.ask(Method::PATCH, &format!("/{}", self.id), Some(body))
            .await
    }

    /// A page of deliveries.
    pub(crate) async fn deliveries(&self, query: &str) -> Value {
        let path = format!("/{}/deliveries?{query}", self.id);
        self.ask(Method::GET, &path, None).await.expect(200)
    }

    pub(crate) async fn settled(&self) {
        self.service.webhooks.settled().await;
    }

    /// Advances the clock, and waits until everything due is done.
    pub(crate) async fn pass(&self, seconds: i64) {
        self.service.clock.advance_millis(seconds * 1000);
        self.settled().await;
    }

    /// Grants credits to a user; for a new user that makes two events.
    pub(crate) async fn grant(&self, user: &str, amount: i64) {
        self.service.grant(user, amount).await;
    }

    /// Type, user and balance of each event, in the order of arrival.
    pub(crate) fn summaries(&self) -> Vec<(String, String, Option<i64>)> {
        self.receiver.summaries()
    }
}

pub(crate) fn created(user: &str) -> (String, String, Option<i64>) {
    ("wallet.created".into(), user.into(), None)
}

pub(crate) fn credited(user: &str, balance: i64) -> (String, String, Option<i64>) {
    ("wallet.credited".into(), user.into(), Some(balance))
}

/// The number of signatures of a delivery that were made with this secret.
pub(crate) fn signatures(received: &Received, secret: &str) -> usize {
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.unwrap()).unwrap();
    let (id, seconds) = (
        received.header("webhook-id"),
        received.header("webhook-timestamp"),
    );
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(&received.raw);
    let expected = format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()));
    let all = received.header("webhook-signature").split(' ');
    all.filter(|one| *one == expected).count()
}

#[tokio::test]
async fn deliveries_equal_the_event_feed_and_are_signed() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.grant("ann", 10).await;
    hooked.settled().await;
    let received = hooked.receiver.received();
    let page = hooked
        .service
        .secret
        .get("/api/v1/events")
        .await
        .expect(200);
    let events = page["events"].as_array().unwrap();
    assert_eq!((received.len(), events.len()), (2, 2));
    for (received, event) in received.iter().zip(events) {
        let mut expected = event.clone();
        assert_eq!(
            expected.as_object_mut().unwrap().remove("id").unwrap(),
            received.header("webhook-id")
        );
        assert_eq!(received.body, expected);
        assert_eq!(signatures(received, &hooked.secret), 1);
        assert_eq!(received.header("webhook-timestamp"), "1795000000");
        assert_eq!(received.header("content-type"), "application/json");
        assert!(received.header("user-agent").starts_with("Scrip/"));
    }
    assert_eq!(hooked.summaries(), [created("ann"), credited("ann", 10)]);
}

#[tokio::test]
async fn a_delivery_is_dated_by_the_machines_clock_which_its_receiver_compares() {
    let hooked = ServiceWithEndpoint::start().await;
    for (ahead, user, machine) in [(-3600, "ann", "1795003600"), (3600, "bea", "1794996400")] {
        hooked.service.clock.be_ahead(ahead * 1000);
        hooked.grant(user, 10).await;
        hooked.settled().await;
        let received = hooked.receiver.received();
        for received in &received[received.len() - 2..] {
            assert_eq!(received.header("webhook-timestamp"), machine);
            assert_eq!(signatures(received, &hooked.secret), 1);
        }
    }
}

#[tokio::test]
async fn how_it_went_is_shown_newest_first() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked
        .receiver
        .of("bob", Some(ScriptedResponse::Status(500)));
    hooked.grant("ann", 10).await;
    hooked.settled().await;
    hooked.grant("bob", 10).await;
    hooked.settled().await;
    let page = hooked.deliveries("limit=2").await;
    let [pending, credited] = [0, 1].map(|place| &page["deliveries"][place]);
    assert_eq!(pending["status"], "pending");
    assert_eq!(pending["attempts"][0]["statusCode"], 500);
    assert_eq!(
        pending["attempts"][0]["error"],
        "It answered 500: as scripted"
    );
    assert_eq!(pending["attempts"][0]["at"], "2026-11-18T11:06:40.000Z");
    assert!(
        pending["nextAttemptAt"]
            .as_str()
            .unwrap()
            .starts_with("2026-11-18T11:06:45.")
    );
    assert_eq!(
        (&credited["status"], &credited["type"]),
        (&json!("succeeded"), &json!("wallet.credited"))
    );
    assert_eq!(credited["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(credited["attempts"][0]["error"], Value::Null);
    assert_eq!(credited["nextAttemptAt"], Value::Null);
    let next = page["nextCursor"].as_str().unwrap();
    let rest = hooked.deliveries(&format!("cursor={next}")).await;
    assert_eq!(rest["deliveries"].as_array().unwrap().len(), 1);
    assert_eq!(rest["deliveries"][0]["type"], "wallet.created");
    assert_eq!(rest["nextCursor"], Value::Null);
    let event = hooked.receiver.received()[0]
        .header("webhook-id")
        .to_owned();
    assert_eq!(rest["deliveries"][0]["eventId"], event);
}

#[tokio::test]
async fn a_wallets_next_event_waits_for_its_last_and_other_wallets_go_on() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked
        .receiver
        .of("ann", Some(ScriptedResponse::Status(500)));
    hooked.grant("ann", 10).await;
    hooked.grant("bob", 20).await;
    hooked.grant("ann", 5).await;
    hooked.settled().await;
    let mut deliveries = hooked.summaries();
    deliveries.sort();
    assert_eq!(
        deliveries,
        [created("ann"), created("bob"), credited("bob", 20)]
    );
    hooked.receiver.of("ann", None);
    hooked.pass(4).await;
    assert_eq!(hooked.summaries().len(), 3, "it is not time yet");
    hooked.pass(2).await;
    let expected = [created("ann"), credited("ann", 10), credited("ann", 15)];
    assert_eq!(hooked.summaries()[3..], expected);
    hooked.pass(100 * HOUR).await;
    assert_eq!(hooked.summaries().len(), 6, "nothing is sent twice");
}

#[tokio::test]
async fn an_event_that_is_not_accepted_is_sent_ten_times_and_fails() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.always(Some(ScriptedResponse::Status(404)));
    hooked.service.code().await;
    hooked.settled().await;
    let pauses = [
        5,
        300,
        1800,
        2 * HOUR,
        5 * HOUR,
        10 * HOUR,
        14 * HOUR,
        20 * HOUR,
        24 * HOUR,
    ];
    for (attempts, pause) in (1..).zip(pauses) {
        assert_eq!(hooked.summaries().len(), attempts);
        hooked.pass(pause - 1).await;
        assert_eq!(
            hooked.summaries().len(),
            attempts,
            "too early after {pause} s"
        );
        // Up to the largest jitter.
        hooked.pass(2 + pause / 10).await;
    }
    assert_eq!(hooked.summaries().len(), 10);
    let page = hooked.deliveries("").await;
    let delivery = &page["deliveries"][0];
    assert_eq!(
        (&delivery["status"], &delivery["nextAttemptAt"]),
        (&json!("failed"), &Value::Null)
    );
    assert_eq!(delivery["attempts"].as_array().unwrap().len(), 10);
    let ids: Vec<_> = hooked.receiver.received();
    let first = ids[0].header("webhook-id");
    assert!(ids.iter().all(|one| one.header("webhook-id") == first));
    hooked.pass(30 * HOUR).await;
    assert_eq!(hooked.summaries().len(), 10);
    assert_eq!(hooked.endpoint().await["active"], true);
}

#[tokio::test]
async fn a_wallets_next_events_are_sent_after_one_has_failed() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked
        .receiver
        .of("ann", Some(ScriptedResponse::Status(500)));
    hooked.grant("ann", 10).await;
    let of_ann = || -> Vec<_> {
        let deliveries = hooked.summaries().into_iter();
        deliveries.filter(|(_, user, _)| user == "ann").collect()
    };
    for day in 1..=9 {
        // Days with nothing but failures would disable the endpoint.
        hooked.grant("bob", day).await;
        hooked.settled().await;
        assert_eq!(
            of_ann(),
            vec![created("ann"); usize::try_from(day).unwrap()]
        );
        if day == 9 {
            hooked.receiver.of("ann", None);
            hooked.receiver.next(ScriptedResponse::Status(400));
        }
        hooked.pass(27 * HOUR).await;
    }
    let mut expected = vec![created("ann"); 10];
    expected.push(credited("ann", 10));
    assert_eq!(of_ann(), expected);
}

#[tokio::test]
async fn a_receiver_may_ask_for_more_time() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.next(ScriptedResponse::After(503, "120"));
    hooked.receiver.next(ScriptedResponse::After(
        429,
        "Wed, 18 Nov 2026 11:20:00 GMT",
    ));
    hooked.service.code().await;
    hooked.settled().await;
    hooked.pass(119).await;
    assert_eq!(hooked.summaries().len(), 1);
    hooked.pass(1).await;
    assert_eq!(hooked.summaries().len(), 2);
    // It asks for 11:08:40, and the schedule says five minutes.
    hooked.pass(11 * 60).await;
    assert_eq!(hooked.summaries().len(), 2);
    hooked.pass(20).await;
    assert_eq!(hooked.summaries().len(), 3);
    assert_eq!(
        hooked.deliveries("").await["deliveries"][0]["status"],
        "succeeded"
    );
}
