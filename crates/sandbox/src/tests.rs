//! The sandbox on a real listener, called by the client that calls Stripe, with a shop that checks each webhook
//! as it would check Stripe's.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use domain::{
    catalog::{CheckoutSettings, Interval, Price, Product, ProductType},
    id::{OrderId, OrderSerial, PriceId, ProductId, WalletKey},
    text::Email,
};
use parking_lot::Mutex;
use payments_port::{CheckoutRequest, Discount, Operation, OrderReference};
use tokio::{net::TcpListener, sync::mpsc};

use super::{fault_profile::FaultProfile, *};
use stripe::{
    Api, Client, Form, SecretKey,
    checkout_sessions::{self, Session},
    id::{PromotionCodeId, StripePriceId},
    prices::{self, StoredPrice},
    signature,
};

mod api;
mod cards;
mod delivery;
mod endpoints;
mod fault_profile;
mod journeys;
mod pages;
mod timeout;

const SECRET: &str = "whsec_sandbox";
const PROJECT: ProjectId = ProjectId(1);
const OTHER: ProjectId = ProjectId(2);
/// A project that uses another provider.
const FOREIGN: ProjectId = ProjectId(3);
/// The last of January 2026, 10:00.
const START: i64 = 1_769_853_600_000;
const DAY: i64 = 24 * 3600 * 1000;

/// Everything around the sandbox, under the test's control.
struct TestWorld {
    now: AtomicI64,
    settings: Mutex<Settings>,
    address: SocketAddr,
}

impl Host for TestWorld {
    fn settings(&self, project: ProjectId) -> Option<Settings> {
        (project != FOREIGN).then(|| self.settings.lock().clone())
    }

    fn now(&self, _: ProjectId) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }

    fn wall_clock(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp(since.as_millis().try_into().unwrap())
    }

    fn keys(&self, project: ProjectId) -> Option<Keys> {
        Some(Keys {
            secret_key: format!("sk_test_{project}"),
            webhook_secret: SigningSecret::new(SECRET).unwrap(),
        })
    }

    fn public_url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn webhook_url(&self, _: ProjectId) -> String {
        format!("http://{}/hook", self.address)
    }
}

/// A notebook that outlives the sandbox.
#[derive(Default)]
struct Memory {
    notes: Mutex<BTreeMap<(ProjectId, String), String>>,
    is_broken: Mutex<bool>,
}

#[async_trait]
impl NoteStore for Memory {
    async fn load(&self, project: ProjectId) -> Result<Vec<(String, String)>, NoteStoreError> {
        let notes = self.notes.lock();
        let of = notes.iter().filter(|((whose, _), _)| *whose == project);
        let found = of.map(|((_, id), note)| (id.clone(), note.clone()));
        Ok(found.collect())
    }

    async fn save(
        &self,
        project: ProjectId,
        changes: Vec<(String, Option<String>)>,
    ) -> Result<(), NoteStoreError> {
        if *self.is_broken.lock() {
            return Err(NoteStoreError("broken".into()));
        }
        let mut bytes = 0_usize;
        let mut notes = self.notes.lock();
        for (id, note) in changes {
            bytes = bytes.saturating_add(
                id.len()
                    .saturating_add(note.as_ref().map_or(0, String::len)),
            );
            match note {
                Some(note) => notes.insert((project, id), note),
                None => notes.remove(&(project, id)),
            };
        }
        assert!(bytes < 40_000, "{bytes}");
        Ok(())
    }
}

/// A webhook, as far as a test looks at it.
#[derive(Debug, serde::Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    created: i64,
    data: Data,
}

#[derive(Debug, serde::Deserialize)]
struct Data {
    object: serde_json::Value,
}

impl Event {
    /// Its object as our client reads it, given that the event is of one of these kinds.
    #[track_caller]
    fn about<T: serde::de::DeserializeOwned>(self, kinds: &[&str]) -> T {
        assert!(kinds.contains(&self.kind.as_str()), "{self:?}");
        serde_json::from_value(self.data.object).unwrap()
    }
}

/// A shop with scripted answers to webhooks, and the webhooks that it received.
#[derive(Clone)]
struct Shop {
    answers: Arc<Mutex<VecDeque<u16>>>,
    came: mpsc::UnboundedSender<Event>,
}

async fn hook(State(shop): State<Shop>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let header = headers[signature::HEADER].as_bytes();
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = Timestamp(i64::try_from(wall.as_millis()).unwrap());
    let secrets = [SigningSecret::new(SECRET).unwrap()];
    signature::verify(header, &body, &secrets, now).unwrap();
    let event: Event = serde_json::from_slice(&body).unwrap();
    if core::tests::QUIET.contains(&event.kind.as_str()) || event.kind == "refund.created" {
        return StatusCode::OK;
    }
    let answer = shop.answers.lock().pop_front().unwrap_or(200);
    let _ = shop.came.send(event);
    StatusCode::from_u16(answer).unwrap()
}

/// A running sandbox and its shop.
struct Stage {
    host: Arc<TestWorld>,
    note_store: Arc<Memory>,
    sandbox: Sandbox,
    answers: Arc<Mutex<VecDeque<u16>>>,
    came: mpsc::UnboundedReceiver<Event>,
    http: reqwest::Client,
}

impl Stage {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = Arc::new(TestWorld {
            now: AtomicI64::new(START),
            settings: Mutex::new(Settings {
                name: "Corner <Shop>".into(),
                delay_seconds: 0,
                duplicates: 0,
                shuffle: false,
            }),
            address: listener.local_addr().unwrap(),
        });
        let note_store = Arc::new(Memory::default());
        let sandbox = Sandbox::new(host.clone(), note_store.clone(), FaultProfile::default());
        let (sender, came) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let shop = Shop {
            answers: answers.clone(),
            came: sender,
        };
        let hooks = Router::new().route("/hook", post(hook)).with_state(shop);
        let routes = sandbox.router().merge(hooks);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder()
            .tls_certs_only([])
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            host,
            note_store,
            sandbox,
            answers,
            came,
            http,
        }
    }

    fn base(&self, project: ProjectId) -> String {
        format!("{}/sandbox/{project}", self.host.public_url())
    }

    fn client(&self) -> Client {
        let api = Api::new(self.base(PROJECT).parse().unwrap()).unwrap();
        api.client(SecretKey::new(&format!("sk_test_{PROJECT}")).unwrap())
    }

    /// A request to the API with the project's key.
    fn ask(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("{}/v1/{path}", self.base(PROJECT));
        self.http
            .request(method, url)
            .bearer_auth(format!("sk_test_{PROJECT}"))
    }

    async fn send(&self, path: &str, form: &str) -> (u16, serde_json::Value) {
        let request = self.ask(reqwest::Method::POST, path);
        let kind = "application/x-www-form-urlencoded";
        let answer = request
            .header("content-type", kind)
            .body(form.to_owned())
            .send()
            .await
            .unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn get(&self, path: &str) -> serde_json::Value {
        let answer = self.ask(reqwest::Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// A script's POST to a page.
    async fn act(&self, url: &str, action: &str, json: &str) -> (u16, serde_json::Value) {
        let request = self.http.post(format!("{url}/{action}"));
        let answer = request.body(json.to_owned()).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn price(&self, number: u128, amount_cents: i64) -> StoredPrice {
        let price = new_price(number, amount_cents);
        let form = prices::form(&product(&format!("Tier {number}")), &price);
        let key = Operation::new(format!("price/{number}")).unwrap();
        self.client().post(&["prices"], &form, &key).await.unwrap()
    }

    async fn session(&self, item: Item, promotion: Promotion) -> Session {
        let key = format!("checkout/{}", uuid::Uuid::new_v4());
        let key = Operation::new(key).unwrap();
        self.client()
            .post(
                &["checkout", "sessions"],
                &new_session(&item, &promotion),
                &key,
            )
            .await
            .unwrap()
    }

    /// The kinds of the next events.
    async fn sent_kinds(&mut self, count: usize) -> Vec<String> {
        let mut kinds = Vec::new();
        for _ in 0..count {
            // In real time: an event that never comes must not hold up the others.
            let next = tokio::time::timeout(Duration::from_secs(300), self.came.recv());
            kinds.push(next.await.unwrap().unwrap().kind);
        }
        kinds
    }

    /// Asserts that nothing else was delivered.
    fn silent(&mut self) {
        assert!(self.came.try_recv().is_err());
    }

    fn set_clock(&self, now: i64) {
        self.host.now.store(now, Ordering::SeqCst);
    }

    async fn run(&self) {
        self.sandbox.run_due(PROJECT).await.unwrap();
    }
}

/// The item that is bought.
enum Item {
    Credits,
    Subscription(StripePriceId),
}

/// The promotion of a checkout.
enum Promotion {
    None,
    BuyerMayEnter,
    Code(PromotionCodeId),
}

fn new_session(item: &Item, promotion: &Promotion) -> Form {
    let (tier, interval) = match item {
        Item::Credits => (None, Interval::OneTime),
        Item::Subscription(price) => (Some(price), Interval::Month),
    };
    let (discount, code) = match promotion {
        Promotion::None => (Discount::None, None),
        Promotion::BuyerMayEnter => (Discount::BuyerMayEnter, None),
        Promotion::Code(code) => (Discount::Code("CODE".into()), Some(code)),
    };
    let email = Email::new("ann@example.com").ok();
    let (product, price) = (product("1,000 <credits>"), new_price(3, 500));
    let price = Price {
        currency: "USD".into(),
        interval,
        ..price
    };
    let request = CheckoutRequest {
        reference: OrderReference {
            project: PROJECT,
            order: OrderId {
                serial: OrderSerial(2),
                wallet: WalletKey([0; 16]),
            },
            price: PriceId(3),
            user: None,
            quantity: domain::Quantity::ONE,
        },
        product: &product,
        price: &price,
        customer: None,
        email: email.as_ref(),
        discount: &discount,
        success_url: "https://shop.example/ok?session={CHECKOUT_SESSION_ID}",
        cancel_url: "https://shop.example/cart",
        locale: None,
        save_card: false,
        asks: CheckoutSettings::NONE,
    };
    checkout_sessions::form(&request, tier, code)
}

fn product(name: &str) -> Product {
    Product {
        id: ProductId(2),
        project: PROJECT,
        name: name.into(),
        description: None,
        kind: ProductType::Subscription,
        credit_unit: None,
        free_grant: None,
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
        active: true,
        created_at: Timestamp(0),
    }
}

fn new_price(number: u128, amount_cents: i64) -> Price {
    Price {
        id: PriceId(number),
        project: PROJECT,
        product: ProductId(2),
        label: None,
        amount_cents,
        currency: "EUR".into(),
        credits_granted: 0,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        features: [].into(),
        interval: Interval::Month,
        trial_days: None,
        trial_credits: 0,
        repeatable: false,
        limits: Vec::new(),
        active: true,
        created_at: Timestamp(0),
    }
}

fn credits() -> Item {
    Item::Credits
}
