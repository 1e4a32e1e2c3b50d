//! A shop that sells in its own sandbox, with what a buyer, a bank and a clock do there. Its webhooks arrive by
//! themselves, unless the test delivers them itself.

use domain::catalog::Interval;
use kit::stripe::event_signed;
use reqwest::Method;
use scrip::{
    catalog::{NewPrice, ProjectChange, ProviderChange, SandboxChange},
    config::Config,
};
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::Service,
    stripe_shop::monthly_tier,
};

pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 24 * HOUR;

/// A service whose project uses its sandbox.
pub(crate) struct SandboxShop {
    pub(crate) service: Service,
    /// 100 credits for 5.00 EUR.
    pub(crate) price: String,
}

/// The tiers of one product.
pub(crate) struct Tiers {
    pub(crate) product: String,
    /// 500 credits for 9.00 a month.
    pub(crate) small: String,
    /// 900 credits for 19.00 a month.
    pub(crate) large: String,
    /// 6000 credits for 90.00 a year.
    pub(crate) yearly: String,
}

impl SandboxShop {
    pub(crate) async fn open() -> Self {
        Self::with(|_| {}).await
    }

    /// A shop with other settings.
    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let service = Service::with(change).await;
        let project = service.project.id;
        let sandbox = Some(ProviderChange::Sandbox);
        let nothing = ProjectChange::default();
        service
            .catalog
            .update_project(project, nothing, sandbox)
            .await
            .unwrap();
        let price = service.add_price(100).await;
        Self { service, price }
    }

    pub(crate) async fn checkout(&self, mut fields: Value) -> Value {
        if fields.get("priceId").is_none() {
            fields["priceId"] = json!(self.price);
        }
        self.service
            .secret
            .post("/api/v1/checkout", &fields)
            .await
            .expect(200)
    }

    pub(crate) async fn try_press(&self, url: &str, button: &str, fields: Value) -> Reply {
        let path = url
            .strip_prefix(&self.service.base)
            .expect("a page of the sandbox");
        let request = self
            .service
            .secret
            .request(Method::POST, &format!("{path}/{button}"));
        Client::send(request.json(&fields)).await.unwrap()
    }

    pub(crate) async fn press(&self, checkout: &Value, button: &str) -> Value {
        let url = checkout["url"].as_str().unwrap();
        self.try_press(url, button, json!({})).await.expect(200)
    }

    /// A paid checkout of the 100 credits.
    pub(crate) async fn buy_credits(&self, user: &str) -> Value {
        self.buy(user, &self.price).await
    }

    pub(crate) async fn portal(&self, user: &str) -> String {
        let body = json!({"externalUserId": user, "returnUrl": "https://shop.example/"});
        let path = "/api/v1/wallets/external/portal";
        let opened = self.service.secret.post(path, &body).await.expect(200);
        opened["url"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn order(&self, checkout: &Value) -> Value {
        let path = format!("/api/v1/orders/{}", checkout["orderId"].as_str().unwrap());
        self.service.secret.get(&path).await.expect(200)
    }

    /// Orders of the project, the newest first.
    pub(crate) async fn orders(&self) -> Vec<Value> {
        let list = self.service.secret.get("/api/v1/orders?limit=100").await;
        list.expect(200)["orders"].as_array().unwrap().clone()
    }

    pub(crate) async fn wallet(&self, user: &str) -> Value {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        self.service.secret.get(&path).await.expect(200)
    }

    pub(crate) async fn ledger(&self, user: &str) -> Vec<(i64, String)> {
        self.service.ledger(user).await
    }

    pub(crate) async fn advance(&self, seconds: i64) {
        self.service.advance(seconds).await;
    }

    pub(crate) async fn set(&self, change: SandboxChange) {
        let project = self.service.project.id;
        self.service
            .catalog
            .update_sandbox(project, change)
            .await
            .unwrap();
    }

    /// Adds the tiers of a new product.
    pub(crate) async fn tiers(&self) -> Tiers {
        let product = self.service.add_plan().await;
        let price =
            async |label: &str, credits_granted, amount_cents, features: &[&str], interval| {
                let tier = NewPrice {
                    label: Some(label.into()),
                    amount_cents,
                    credits_granted,
                    features: features.iter().map(|&slug| slug.into()).collect(),
                    interval,
                    ..monthly_tier()
                };
                let project = self.service.project.id;
                let price = self.service.catalog.create_price(project, product, tier);
                price.await.unwrap().id.to_string()
            };
        Tiers {
            product: product.to_string(),
            small: price("Small", 500, 900, &["pro"], Interval::Month).await,
            large: price("Large", 900, 1900, &["pro", "max"], Interval::Month).await,
            yearly: price("Yearly", 6000, 9000, &["pro"], Interval::Year).await,
        }
    }

    /// Subscribes a user to the small tier.
    pub(crate) async fn subscribed(&self, user: &str) -> (Value, Tiers) {
        let tiers = self.tiers().await;
        let checkout = self.buy(user, &tiers.small).await;
        (checkout, tiers)
    }

    /// A paid checkout of a price.
    pub(crate) async fn buy(&self, user: &str, price: &str) -> Value {
        let checkout = self
            .checkout(json!({"priceId": price, "externalUserId": user}))
            .await;
        self.press(&checkout, "pay").await;
        checkout
    }
}

/// Webhooks that the test delivers itself.
impl SandboxShop {
    /// Delays all webhooks by a week.
    pub(crate) async fn delay_webhooks(&self) {
        self.set(SandboxChange {
            delay_seconds: Some(7 * DAY),
            ..SandboxChange::default()
        })
        .await;
    }

    /// Reads the provider's list of events; returns how many new ones it read.
    pub(crate) async fn read(&self) -> usize {
        let project = self.service.catalog.project(self.service.project.id);
        let read = self
            .service
            .payments
            .event_poller()
            .run(&project.unwrap())
            .await;
        read.unwrap()
    }

    /// Events that no webhook has delivered yet, oldest first.
    pub(crate) async fn undelivered(&self) -> Vec<Value> {
        let events = self.ask(Method::GET, "/v1/events?limit=100", "").await;
        let events = events["data"].as_array().unwrap().iter().rev();
        let waits = |event: &&Value| event["pending_webhooks"] != 0;
        events.filter(waits).cloned().collect()
    }

    /// Delivers these events in order, each twice, as two events about the same.
    pub(crate) async fn deliver<'a>(&self, events: impl IntoIterator<Item = &'a Value>) {
        let keys = self.service.accounts.sandbox_keys(self.service.project.id);
        let path = format!("/webhooks/stripe/{}", self.service.project.id);
        let now = self.service.handle.now().0 / 1000;
        for event in events {
            let (kind, object) = (event["type"].as_str().unwrap(), &event["data"]["object"]);
            for copy in ["", "_again"] {
                let id = format!("{}{copy}", event["id"].as_str().unwrap());
                let (body, header) = event_signed(&keys.webhook_secret, &id, kind, object, now);
                let request = self.service.secret.request(Method::POST, &path);
                let request = request.header("stripe-signature", header).body(body);
                Client::send(request).await.unwrap().expect(200);
            }
        }
    }
}

/// The provider's API and dashboard, and what banks do.
impl SandboxShop {
    /// Calls the provider's API with the project's key.
    pub(crate) async fn ask(&self, method: Method, path: &str, form: &str) -> Value {
        let project = self.service.project.id;
        let key = self.service.accounts.sandbox_keys(project).secret_key;
        let api = Client::new(&self.service.accounts.sandbox_api(project), &key);
        let changes = method != Method::GET;
        let request = api.request(method, path);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let asked = Client::send(request.body(form.to_owned())).await.unwrap();
        let answer = asked.expect(200);
        if changes {
            // Webhooks of changes by the API are sent in the next second.
            self.advance(1).await;
        }
        answer
    }

    /// The provider's id of one of our prices.
    pub(crate) async fn price_there(&self, ours: &str) -> String {
        let prices = self.ask(Method::GET, "/v1/prices?limit=100", "").await;
        let mut prices = prices["data"].as_array().unwrap().iter();
        let found = prices.find(|price| price["metadata"]["scrip_price_id"] == ours);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// The only subscription at the provider.
    pub(crate) async fn subscription_there(&self) -> Value {
        let all = self
            .ask(Method::GET, "/v1/subscriptions?status=all", "")
            .await;
        let [only] = all["data"].as_array().unwrap().as_slice() else {
            panic!("one subscription, not {all}")
        };
        only.clone()
    }

    /// Switches a tier in the portal.
    pub(crate) async fn switch(&self, user: &str, to: &str) {
        let portal = self.portal(user).await;
        let price = json!({"price": self.price_there(to).await});
        self.try_press(&portal, "switch", price).await.expect(200);
    }
}

impl SandboxShop {
    /// Everything that a user and their shop can see: the wallet, its ledger and its orders, oldest first.
    pub(crate) async fn state_of(&self, user: &str) -> Value {
        let wallet = self.wallet(user).await;
        let ledger = self.ledger(user).await;
        let balances = wallet["balances"].as_array().unwrap().iter();
        let balances: Vec<i64> = balances.map(|it| it["balance"].as_i64().unwrap()).collect();
        let sum: i64 = ledger.iter().map(|(delta, _)| delta).sum();
        assert_eq!(balances.iter().sum::<i64>(), sum, "the books add up");
        let tiers = wallet["subscriptions"].as_array().unwrap().iter();
        let tiers: Vec<Value> = tiers.map(|it| json!([it["label"], it["status"]])).collect();
        let orders = self.orders().await;
        let orders = orders.iter().rev();
        let orders = orders.filter(|order| order["externalUserId"] == user);
        let orders = orders.map(|order| {
            let fields = ["kind", "status", "amountCents", "refundedCents"];
            json!(fields.map(|field| &order[field]))
        });
        json!({
            "balances": balances, "features": wallet["features"], "tiers": tiers,
            "ledger": ledger, "orders": orders.collect::<Vec<_>>(),
        })
    }
}

/// All permutations of some events.
pub(crate) fn orders_of<T: Clone>(things: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = things.split_first() else {
        return vec![Vec::new()];
    };
    let shorter = orders_of(rest).into_iter();
    let put = |order: Vec<T>| {
        (0..=order.len()).map(move |place| {
            let mut longer = order.clone();
            longer.insert(place, first.clone());
            longer
        })
    };
    shorter.flat_map(put).collect()
}
