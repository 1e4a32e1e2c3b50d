//! A crash between any two steps of a renewal, a refund and a dispute, which stops the sandbox as well: their
//! effects are there once, and the books add up.

use crate::crash_point;
use kit::{Client, Launch, Server, deadline};
use reqwest::Method;
use serde_json::{Value, json};

const DAY: i64 = 24 * 3600;
const INBOX: [&str; 3] = ["inbox.received", "inbox.stored", "inbox.worked"];
const CYCLE: [&str; 2] = ["cycle.before", "cycle.after"];
const TOP_UP: [&str; 3] = ["top_up.charging", "top_up.charged", "top_up.reported"];
const MONEY: [&str; 2] = ["money.before", "money.after"];

/// A server whose project uses its sandbox, with one buyer.
struct SandboxServer {
    server: Server,
}

impl SandboxServer {
    async fn open() -> Self {
        // Behaves like a real account: long events, and rate limits.
        let launch = Launch::default().env("SCRIP_SANDBOX_FAULTS", "true");
        let server = Server::launch(launch).await;
        server.set_provider(&json!({"kind": "sandbox"})).await;
        Self { server }
    }

    /// Adds a tier of 100 credits for 5.00.
    async fn tier(&self, interval: &str) -> String {
        let admin = self.server.admin();
        let product = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
        let products = format!("{}/products", self.server.project_path());
        let product = admin.post(&products, &product).await.expect(201);
        let prices = format!("{products}/{}/prices", product["id"].as_str().unwrap());
        let price = json!({
            "amountCents": 500, "currency": "EUR", "creditsGranted": 100, "interval": interval,
        });
        let price = admin.post(&prices, &price).await.expect(201);
        price["id"].as_str().unwrap().to_owned()
    }

    /// Buys 100 credits, once or as a tier; returns the price.
    async fn bought(&self, interval: &str) -> String {
        let price = match interval {
            "one_time" => self.server.add_price(100).await,
            _ => self.tier(interval).await,
        };
        let body = json!({"priceId": price, "externalUserId": "ann"});
        let client = self.server.client();
        let checkout = client.post("/api/v1/checkout", &body).await.expect(200);
        let paid = self.press(checkout["url"].as_str().unwrap(), "pay", json!({}));
        assert!(paid.await, "it lives");
        assert_eq!(self.ledger().await, [100]);
        price
    }

    /// Presses a button of a page; returns whether there was a response.
    async fn press(&self, url: &str, button: &str, fields: Value) -> bool {
        let page = url.find("/sandbox/").map(|at| &url[at..]);
        let path = format!("{}/{button}", page.expect("a page of the sandbox"));
        let request = self.server.client().request(Method::POST, &path);
        match Client::send(request.json(&fields)).await {
            Ok(reply) => {
                reply.expect(200);
                true
            }
            Err(_) => false,
        }
    }

    async fn portal(&self) -> String {
        let body = json!({"externalUserId": "ann", "returnUrl": "https://shop.example/"});
        let path = "/api/v1/wallets/external/portal";
        let opened = self.server.client().post(path, &body).await.expect(200);
        opened["url"].as_str().unwrap().to_owned()
    }

    /// Puts a card on file that is charged when fewer than 50 credits are left.
    async fn arm(&self, price: &str) {
        let client = self.server.client();
        let path = "/api/v1/wallets/external/payment-method";
        let body = json!({"externalUserId": "ann", "returnUrl": "https://shop.example/"});
        let page = client.post(path, &body).await.expect(200);
        assert!(
            self.press(page["url"].as_str().unwrap(), "pay", json!({}))
                .await
        );
        let wallet = "/api/v1/wallets/external?externalUserId=ann";
        deadline::answered("the card is on file", deadline::SOON, async || {
            let wallet = client.get(wallet).await.expect(200);
            wallet["paymentMethod"].is_object().then_some(())
        })
        .await;
        let rule = json!({
            "externalUserId": "ann", "enabled": true, "priceId": price, "threshold": 50,
            "monthlyLimitCents": 5000, "consent": { "text": "Charge my card." },
        });
        let request = client.request(Method::PUT, "/api/v1/wallets/external/auto-top-up");
        Client::send(request.json(&rule)).await.unwrap().expect(200);
    }

    /// Advances the sandbox's clock; returns whether there was a response.
    async fn advance(&self, seconds: i64) -> bool {
        let path = format!("{}/sandbox/advance", self.server.project_path());
        let request = self.server.admin().request(Method::POST, &path);
        let moved = Client::send(request.json(&json!({"seconds": seconds}))).await;
        moved.map(|reply| reply.expect(200)).is_ok()
    }

    /// The ledger's deltas, oldest first.
    async fn ledger(&self) -> Vec<i64> {
        let path = "/api/v1/wallets/external/ledger?externalUserId=ann&limit=100";
        let page = self.server.client().get(path).await.expect(200);
        let entries = page["entries"].as_array().unwrap().iter().rev();
        entries
            .map(|entry| entry["delta"].as_i64().unwrap())
            .collect()
    }

    /// Kinds and statuses of the orders, oldest first.
    async fn orders(&self) -> Value {
        let page = self.server.client().get("/api/v1/orders").await.expect(200);
        let orders = page["orders"].as_array().unwrap().iter().rev();
        orders
            .map(|order| json!([order["kind"], order["status"]]))
            .collect()
    }

    /// After a crash and restart: what was begun is done within the hour, and nothing more happens later.
    async fn ends_with(mut self, place: &str, ledger: &[i64], orders: Value) {
        crash_point::survive(&mut self.server).await;
        for later in [3600, DAY] {
            assert!(self.advance(later).await, "{place}: it lives on");
            assert_eq!(self.ledger().await, ledger, "{place}");
            assert_eq!(self.orders().await, orders, "{place}");
        }
        crash_point::close(self.server).await;
    }
}

#[tokio::test]
async fn dying_within_a_renewal_renews_once() {
    for place in INBOX.iter().chain(&CYCLE) {
        let mut stand = SandboxServer::open().await;
        stand.bought("month").await;
        // Nearly a whole month, for any month.
        assert!(stand.advance(27 * DAY).await);
        crash_point::start(&mut stand.server, place).await;
        assert!(
            !stand.advance(5 * DAY).await,
            "{place}: it dies before it answers"
        );
        let orders = json!([["checkout", "paid"], ["renewal", "paid"]]);
        stand.ends_with(place, &[100, -100, 100], orders).await;
    }
}

#[tokio::test]
async fn dying_within_a_top_up_charges_once() {
    for place in TOP_UP {
        let mut stand = SandboxServer::open().await;
        let price = stand.bought("one_time").await;
        stand.arm(&price).await;
        crash_point::start(&mut stand.server, place).await;
        let body = json!({"externalUserId": "ann", "amount": 60, "idempotencyKey": "use"});
        let client = stand.server.client();
        let request = client.request(Method::POST, "/api/v1/wallets/external/deduct");
        // It may die before the answer has left.
        drop(Client::send(request.json(&body)).await);
        let orders = json!([["checkout", "paid"], ["top_up", "paid"]]);
        stand.ends_with(place, &[100, -60, 100], orders).await;
    }
}

#[tokio::test]
async fn dying_within_a_refund_takes_its_credits_once() {
    for place in INBOX.iter().chain(&MONEY) {
        let mut stand = SandboxServer::open().await;
        stand.bought("one_time").await;
        crash_point::start(&mut stand.server, place).await;
        let portal = stand.portal().await;
        let part = json!({"amountCents": "200"});
        assert!(!stand.press(&portal, "refund", part).await, "{place}");
        let orders = json!([["checkout", "paid"]]);
        stand.ends_with(place, &[100, -40], orders).await;
    }
}

#[tokio::test]
async fn dying_within_a_dispute_takes_its_credits_once() {
    for place in INBOX.iter().chain(&MONEY) {
        let mut stand = SandboxServer::open().await;
        stand.bought("one_time").await;
        crash_point::start(&mut stand.server, place).await;
        let portal = stand.portal().await;
        assert!(!stand.press(&portal, "dispute", json!({})).await, "{place}");
        let orders = json!([["checkout", "refunded"]]);
        stand.ends_with(place, &[100, -100], orders).await;
    }
}

#[tokio::test]
async fn dying_while_a_dispute_is_won_gives_its_credits_back_once() {
    // Reading the list at the start handles the payment, too: only the inbox depends on the webhook.
    for place in INBOX {
        let mut stand = SandboxServer::open().await;
        stand.bought("one_time").await;
        let portal = stand.portal().await;
        assert!(stand.press(&portal, "dispute", json!({})).await);
        // Reported before the next start, which would crash at the same place.
        let reversed = async || (stand.ledger().await == [100, -100]).then_some(());
        deadline::answered("the dispute", deadline::SOON, reversed).await;
        crash_point::start(&mut stand.server, place).await;
        let won = stand.press(&portal, "dispute_won", json!({})).await;
        assert!(!won, "{place}");
        let orders = json!([["checkout", "paid"]]);
        stand.ends_with(place, &[100, -100, 100], orders).await;
    }
}
