//! Events that cannot be read when they are to be sent.

use domain::id::WalletKey;
use kit::receiver::Receiver;
use reqwest::Method;
use scrip::outbound::webhooks::Running;
use serde_json::{Value, json};

use crate::{
    client::Client,
    service::{ADMIN_TOKEN, Service},
    webhooks_out::{Hooked, ask, created, credited, near},
};

/// A service after a restart, that has to tell of a wallet which cannot be read any more.
struct Damaged {
    service: Service,
    receiver: Receiver,
    endpoint: String,
    wallet: WalletKey,
    _running: Running,
}

impl Damaged {
    async fn start() -> Self {
        let hooked = Hooked::start().await;
        let service = hooked.service.again(near).await;
        drop(hooked.running);
        service.grant("ann", 1).await;
        let body = json!({"externalUserId": "ann", "feature": "pro"});
        let granted = service.secret.post("/api/v1/features", &body).await;
        granted.expect(200);
        service.grant("ann", 2).await;
        service.grant("bob", 5).await;
        // Nothing of it is in memory any more.
        let service = service.again(near).await;
        let project = service.catalog.project(service.project.id).unwrap();
        let told = service.handle.told(&project.scope, 0, 1).await.unwrap();
        let wallet = told[0].notice.key;
        service.journal.damage(wallet, true);
        let running = service.webhooks.start();
        service.webhooks.settled().await;
        Self {
            service,
            receiver: hooked.receiver,
            endpoint: hooked.id,
            wallet,
            _running: running,
        }
    }

    async fn pass(&self, seconds: i64) {
        self.service.clock.advance_millis(seconds * 1000);
        self.service.webhooks.settled().await;
    }

    async fn ask(&self, method: Method, path: &str) -> Value {
        let project = self.service.project.id.to_string();
        let path = format!("/{}/deliveries{path}", self.endpoint);
        let reply = ask((&self.service.base, &project), method, &path, None).await;
        assert!(reply.status < 300, "{}", reply.body);
        reply.body
    }

    /// The delivery of what cannot be read.
    async fn delivery(&self) -> Option<Value> {
        let page = self.ask(Method::GET, "").await;
        let deliveries = page["deliveries"].as_array().unwrap();
        let found = deliveries
            .iter()
            .find(|it| it["type"] == "features.changed");
        found.cloned()
    }

    fn kinds(&self) -> Vec<String> {
        let told = self.receiver.told().into_iter();
        let of_ann = told.filter(|(_, user, _)| user == "ann");
        of_ann.map(|(kind, ..)| kind).collect()
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_given_up_after_an_hour_and_its_wallet_goes_on() {
    let damaged = Damaged::start().await;
    let before = ["wallet.created", "wallet.credited"];
    for wait in (0..12).map(|times| 1 << times) {
        damaged.pass(wait - 1).await;
        assert_eq!(damaged.kinds(), before, "after {wait} s");
        damaged.pass(1).await;
    }
    let told = damaged.receiver.told();
    assert!(told.contains(&created("bob")) && told.contains(&credited("bob", 5)));
    assert_eq!(*told.last().unwrap(), credited("ann", 3));
    assert_eq!(told.len(), 5);

    let delivery = damaged.delivery().await.unwrap();
    assert_eq!(delivery["status"], "failed");
    let error = delivery["attempts"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("The event could not be read"), "{error}");
    let admin = Client::new(&damaged.service.base, ADMIN_TOKEN);
    let request = admin.request(Method::GET, "/metrics");
    let figures = request.send().await.unwrap().text().await.unwrap();
    let counted = "scrip_webhook_attempts_total{outcome=\"unreadable\"} 1";
    assert!(figures.contains(counted), "{figures}");

    // Once it can be read, it can be sent after all.
    damaged.service.journal.damage(damaged.wallet, false);
    let id = delivery["id"].as_str().unwrap();
    damaged.ask(Method::POST, &format!("/{id}/replay")).await;
    damaged.service.webhooks.settled().await;
    assert_eq!(damaged.kinds()[3..], ["features.changed"]);
}

#[tokio::test]
async fn what_can_be_read_again_is_sent_in_its_turn() {
    let damaged = Damaged::start().await;
    for wait in [1, 2, 4, 8] {
        damaged.pass(wait).await;
    }
    damaged.service.journal.damage(damaged.wallet, false);
    damaged.pass(15).await;
    assert_eq!(damaged.kinds().len(), 2, "it is asked for ever less often");
    damaged.pass(1).await;
    let all = [
        "wallet.created",
        "wallet.credited",
        "features.changed",
        "wallet.credited",
    ];
    assert_eq!(damaged.kinds(), all);
    let delivery = damaged.delivery().await.unwrap();
    assert_eq!(
        (
            &delivery["status"],
            delivery["attempts"].as_array().unwrap().len()
        ),
        (&json!("succeeded"), 1)
    );
}
