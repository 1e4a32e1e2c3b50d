//! Events that cannot be read when they are due.

use domain::id::WalletKey;
use kit::receiver::ScriptedResponse;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Client,
    deliveries::{ServiceWithEndpoint, created, credited},
    service::ADMIN_TOKEN,
};

/// A service whose endpoint first accepted nothing of a wallet; now that wallet's events cannot be read.
struct UnreadableEvents {
    hooked: ServiceWithEndpoint,
    wallet: WalletKey,
}

impl UnreadableEvents {
    async fn start() -> Self {
        let hooked = ServiceWithEndpoint::start().await;
        hooked
            .receiver
            .of("ann", Some(ScriptedResponse::Status(500)));
        let service = &hooked.service;
        service.grant("ann", 1).await;
        let body = json!({"externalUserId": "ann", "feature": "pro"});
        let granted = service.secret.post("/api/v1/features", &body).await;
        granted.expect(200);
        service.grant("ann", 2).await;
        service.grant("bob", 5).await;
        hooked.settled().await;
        let project = service.catalog.project(service.project.id).unwrap();
        let events = service
            .handle
            .events_from(&project.scope, 0, 1)
            .await
            .unwrap();
        let wallet = events[0].project_event.key;
        service.journal.damage(wallet, true);
        hooked.receiver.of("ann", None);
        let damaged = Self { hooked, wallet };
        // When it is due again.
        damaged.pass(6).await;
        damaged
    }

    async fn pass(&self, seconds: i64) {
        self.hooked.pass(seconds).await;
    }

    async fn ask(&self, method: Method, path: &str) -> Value {
        let path = format!("/{}/deliveries{path}", self.hooked.id);
        let reply = self.hooked.ask(method, &path, None).await;
        assert!(reply.status < 300, "{}", reply.body);
        reply.body
    }

    /// The delivery of the unreadable event.
    async fn delivery(&self) -> Value {
        let page = self.ask(Method::GET, "").await;
        let deliveries = page["deliveries"].as_array().unwrap();
        let found = deliveries
            .iter()
            .rfind(|it| it["type"] == "wallet.created" && it["attempts"][0]["statusCode"] == 500);
        found.unwrap().clone()
    }

    /// Types of the wallet's events that were sent after the first attempt.
    fn kinds(&self) -> Vec<String> {
        let deliveries = self.hooked.summaries().into_iter();
        let of_ann = deliveries.filter(|(_, user, _)| user == "ann").skip(1);
        of_ann.map(|(kind, ..)| kind).collect()
    }
}

const REST: [&str; 3] = ["wallet.credited", "features.changed", "wallet.credited"];

#[tokio::test]
async fn an_unreadable_event_fails_after_an_hour_and_the_wallets_next_ones_are_sent() {
    let damaged = UnreadableEvents::start().await;
    for wait in (0..12).map(|times| 1 << times) {
        damaged.pass(wait - 1).await;
        assert_eq!(damaged.delivery().await["status"], "pending");
        if wait == 2048 {
            // By now the next events can be read.
            break;
        }
        damaged.pass(1).await;
        assert_eq!(damaged.kinds(), [""; 0], "after {wait} s");
    }
    damaged.pass(1).await;
    let delivery = damaged.delivery().await;
    assert_eq!(delivery["status"], "failed");
    let error = delivery["attempts"][1]["error"].as_str().unwrap();
    assert!(error.starts_with("The event could not be read"), "{error}");
    let service = &damaged.hooked.service;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let request = admin.request(Method::GET, "/metrics");
    let figures = request.send().await.unwrap().text().await.unwrap();
    let counted = "scrip_webhook_attempts_total{outcome=\"unreadable\"} 1";
    assert!(figures.contains(counted), "{figures}");
    let deliveries = damaged.hooked.summaries();
    assert!(deliveries.contains(&created("bob")) && deliveries.contains(&credited("bob", 5)));

    // Once it can be read, the others are sent, and it can be replayed.
    service.journal.damage(damaged.wallet, false);
    damaged.pass(1).await;
    assert_eq!(damaged.kinds(), REST);
    let id = delivery["id"].as_str().unwrap();
    damaged.ask(Method::POST, &format!("/{id}/replay")).await;
    damaged.hooked.settled().await;
    assert_eq!(damaged.kinds()[3..], ["wallet.created"]);
}

#[tokio::test]
async fn what_can_be_read_again_is_sent_in_its_turn() {
    let damaged = UnreadableEvents::start().await;
    for wait in [1, 2, 4, 8] {
        damaged.pass(wait).await;
    }
    damaged.hooked.service.journal.damage(damaged.wallet, false);
    damaged.pass(15).await;
    assert_eq!(damaged.kinds(), [""; 0], "it is asked for ever less often");
    damaged.pass(1).await;
    assert_eq!(damaged.kinds()[0], "wallet.created");
    assert_eq!(damaged.kinds()[1..], REST);
    let delivery = damaged.delivery().await;
    assert_eq!(delivery["status"], "succeeded");
    assert_eq!(delivery["attempts"].as_array().unwrap().len(), 2);
}
