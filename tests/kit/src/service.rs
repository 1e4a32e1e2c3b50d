//! The service in this process, as `compose.rs` joins it, on a journal in memory and a clock that only the test
//! moves, with one project and one product.

use std::{net::SocketAddr, path::Path, sync::Arc};

use actors::{
    Handle,
    clock::{Clock, ManualClock},
};
use domain::{
    Timestamp,
    catalog::{Interval, KeyKind, ProductType, Project},
    id::ProductId,
};
use persistence::{MemoryJournal, Store};
use reqwest::{Method, header::HeaderMap};
use scrip::{
    catalog::{CatalogStore, NewPrice, NewProduct, NewProject, ProductChange, ProjectChange},
    compose::{self, Platform},
    config::Config,
    identity::People,
    outbound::{CustomerMails, Webhooks, mail::Mailer},
    payments::Payments,
    providers::{Accounts, Sandboxes},
    secrets::ProvidedSecrets,
    state::AppState,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, Reply};

/// The initial time of each test: 2026-11-18T11:06:40Z.
pub const START: Timestamp = Timestamp(1_795_000_000_000);
/// The administrator's token.
pub const ADMIN_TOKEN: &str = "an administrator's token";
/// A recovery code of no wallet.
pub const NO_CODE: &str = "OLIVE-0000-0000-0000";

/// A running service; it ends with the test's runtime.
pub struct Service {
    /// Its base address, `http://host:port`.
    pub base: String,
    /// Its clock, which only the test moves.
    pub clock: Arc<ManualClock>,
    /// Its journal, which fails when the test says so.
    pub journal: Arc<MemoryJournal>,
    /// Its projects, keys, products and prices.
    pub catalog: Arc<CatalogStore>,
    /// The handle of its wallets.
    pub handle: Handle,
    /// The payments of its projects.
    pub payments: Payments,
    /// Its projects' provider accounts.
    pub accounts: Arc<Accounts>,
    /// The sandboxes of its projects.
    pub sandboxes: Sandboxes,
    /// What sends its mails.
    pub mailer: Mailer,
    /// Its webhooks, which the test may start.
    pub webhooks: Webhooks,
    /// Its mails to customers, which the test sends round by round.
    pub customer_mails: CustomerMails,
    /// The folder that mails are written to.
    pub mails: TempDir,
    app: Arc<AppState>,
    /// The project of the keys below.
    pub project: Project,
    /// The product's id.
    pub product: String,
    /// A client with the project's publishable key.
    pub publishable: Client,
    /// A client with its secret key.
    pub secret: Client,
}

impl Service {
    /// Starts a service with default settings.
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts a service that uses this address as Stripe's API.
    pub async fn beside(stripe: &str) -> Self {
        Self::with(|config| config.stripe.api_base = stripe.parse().unwrap()).await
    }

    /// Starts a service with other settings.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let mails = tempfile::tempdir().unwrap();
        let journal = Arc::new(MemoryJournal::new());
        let app = serve((&clock, &journal), mails.path(), change).await;
        let new = NewProject {
            name: "Demo".into(),
            ..NewProject::default()
        };
        let created = app.0.catalog.create_project(new).await.unwrap();
        let (project, publishable, secret) = created;
        let keys = [&publishable, &secret].map(|key| Client::new(&app.1, &key.plain));
        let mut service = Self::of(app, (clock, journal), mails, project, keys);
        service.product = service.add_product("Render credits").await.to_string();
        service
    }

    /// The service after a restart, with the same journal and clock. The former service has ended and must no
    /// longer be used.
    pub async fn again(&self, change: impl FnOnce(&mut Config)) -> Self {
        let mails = tempfile::tempdir().unwrap();
        let ground = (&self.clock, &self.journal);
        let app = serve(ground, mails.path(), change).await;
        let ground = (Arc::clone(&self.clock), Arc::clone(&self.journal));
        let keys = [&self.publishable, &self.secret].map(|key| key.at(&app.1));
        let service = Self::of(app, ground, mails, self.project.clone(), keys);
        Self {
            product: self.product.clone(),
            ..service
        }
    }

    fn of(
        (app, base): (Arc<AppState>, String),
        (clock, journal): (Arc<ManualClock>, Arc<MemoryJournal>),
        mails: TempDir,
        project: Project,
        [publishable, secret]: [Client; 2],
    ) -> Self {
        Self {
            publishable,
            secret,
            product: String::new(),
            base,
            clock,
            journal,
            catalog: Arc::clone(&app.catalog),
            handle: app.handle.clone(),
            payments: app.payments.clone(),
            accounts: Arc::clone(&app.accounts),
            sandboxes: app.sandboxes.clone(),
            mailer: app.mailer.clone(),
            webhooks: app.webhooks.clone(),
            customer_mails: app.mails.clone(),
            mails,
            app,
            project,
        }
    }

    /// Starts to count outstanding credits, as a service does that runs.
    pub fn count_outstanding(&self) {
        drop(self.app.outstanding.keep_counting());
    }

    /// Its users and their sessions.
    #[must_use]
    pub fn people(&self) -> &People {
        &self.app.edge.people
    }

    /// Runs one of the rounds that happen each second.
    pub async fn round(&self) {
        let project = self.catalog.project(self.project.id).unwrap();
        self.payments.round(&project).await;
    }

    /// The secret of a link that signs in to the dashboard.
    pub fn link(&self) -> String {
        let now = self.app.edge.clock.now();
        self.people().sessions.link(now).unwrap()
    }

    /// Advances the clock of the project's sandbox.
    pub async fn advance(&self, seconds: i64) {
        let moved = self
            .sandboxes
            .advance(&self.payments, self.project.id, seconds);
        moved.await.unwrap();
    }

    /// Asks the provider about pending orders, as each round does.
    pub async fn ask_about_pending(&self) {
        let project = self.catalog.project(self.project.id).unwrap();
        self.payments.pending_orders().run(&project).await.unwrap();
    }

    /// Adds a product that holds credits.
    pub async fn add_product(&self, name: &str) -> ProductId {
        let new = NewProduct {
            name: name.into(),
            kind: ProductType::Credits,
            description: None,
            credit_unit: Some("renders".into()),
            free_grant: None,
            low_balance: None,
            debt_limit: 0,
            limits: Vec::new(),
            active: true,
        };
        self.catalog
            .create_product(self.project.id, new)
            .await
            .unwrap()
            .id
    }

    /// Adds a subscription product that holds credits.
    pub async fn add_plan(&self) -> ProductId {
        let product = NewProduct {
            name: "Plan".into(),
            kind: ProductType::Subscription,
            description: None,
            credit_unit: Some("credits".into()),
            free_grant: None,
            low_balance: None,
            debt_limit: 0,
            limits: Vec::new(),
            active: true,
        };
        let product = self.catalog.create_product(self.project.id, product).await;
        product.unwrap().id
    }

    /// Adds a price of the product; returns its id.
    pub async fn add_price(&self, credits_granted: i64) -> String {
        let new = NewPrice {
            label: None,
            amount_cents: 500,
            currency: "EUR".into(),
            credits_granted,
            credits_product: None,
            credits_expire_after_days: None,
            rollover: false,
            repeatable: false,
            limits: Vec::new(),
            trial_days: None,
            trial_credits: 0,
            features: Vec::new(),
            interval: Interval::OneTime,
        };
        let product = self.product.parse().unwrap();
        let price = self
            .catalog
            .create_price(self.project.id, product, new)
            .await
            .unwrap();
        price.id.to_string()
    }

    /// Lets every user owe so many credits of the product.
    pub async fn trust(&self, debt_limit: i64) {
        let change = ProductChange {
            debt_limit: Some(debt_limit),
            limits: None,
            ..ProductChange::default()
        };
        let product = self.product.parse().unwrap();
        self.catalog
            .update_product(self.project.id, product, change)
            .await
            .unwrap();
    }

    /// A user's balance of the product as the wallet shows it, with what is held and owed.
    pub async fn position(&self, user: &str) -> [i64; 3] {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        let wallet = self.secret.get(&path).await.expect(200);
        let shown = |name: &str| wallet["balances"][0][name].as_i64();
        ["balance", "held", "owed"].map(|name| shown(name).unwrap_or(0))
    }

    /// Changes the project's settings.
    pub async fn set(&self, change: ProjectChange) {
        self.catalog
            .update_project(self.project.id, change, None)
            .await
            .unwrap();
    }

    /// A client with a new key.
    pub async fn client(&self, kind: KeyKind) -> Client {
        let key = self
            .catalog
            .create_key(self.project.id, kind)
            .await
            .unwrap();
        Client::new(&self.base, &key.plain)
    }

    /// A client with a new session; `fields` say whose, and what else.
    pub async fn session(&self, fields: Value) -> Client {
        let session = self.secret.post("/api/v1/sessions", &fields).await;
        let session = session.expect(200);
        Client::new(&self.base, session["token"].as_str().unwrap())
    }

    /// A client of another project.
    pub async fn stranger(&self, kind: KeyKind) -> Client {
        let new = NewProject {
            name: "Other".into(),
            ..NewProject::default()
        };
        let (_, publishable, secret) = self.catalog.create_project(new).await.unwrap();
        let key = if kind == KeyKind::Secret {
            secret
        } else {
            publishable
        };
        Client::new(&self.base, &key.plain)
    }

    /// Sends a request without a key.
    pub async fn anonymous(&self, method: Method, path: &str) -> Reply {
        self.with_authorization(method, path, None).await
    }

    /// Sends a request with this `Authorization` header, or none.
    pub async fn with_authorization(
        &self,
        method: Method,
        path: &str,
        value: Option<&str>,
    ) -> Reply {
        let (http, request) = self.secret.request(method, path).build_split();
        let mut request = request.unwrap();
        request.headers_mut().remove("authorization");
        if let Some(value) = value {
            request
                .headers_mut()
                .insert("authorization", value.parse().unwrap());
        }
        Client::send(reqwest::RequestBuilder::from_parts(http, request))
            .await
            .unwrap()
    }

    /// Creates a code wallet; returns its code.
    pub async fn code(&self) -> String {
        let wallet = self
            .secret
            .post("/api/v1/wallets", &Value::Null)
            .await
            .expect(200);
        wallet["code"].as_str().unwrap().to_owned()
    }

    /// Grants credits to a user.
    pub async fn grant(&self, user: &str, amount: i64) {
        let body = json!({
            "externalUserId": user, "productId": self.product, "amount": amount,
            "idempotencyKey": format!("grant {user} {amount}"),
        });
        self.secret.post("/api/v1/credit", &body).await.expect(200);
    }

    /// Grants credits to a code wallet.
    pub async fn grant_code(&self, code: &str, amount: i64) {
        let body = json!({
            "code": code, "productId": self.product, "amount": amount,
            "idempotencyKey": format!("grant {amount}"),
        });
        self.secret.post("/api/v1/credit", &body).await.expect(200);
    }

    /// The deltas of a user's ledger with their reasons, oldest first.
    pub async fn ledger(&self, user: &str) -> Vec<(i64, String)> {
        let path = format!("/api/v1/wallets/external/ledger?externalUserId={user}&limit=100");
        let page = self.secret.get(&path).await.expect(200);
        let entries = page["entries"].as_array().unwrap().iter().rev();
        let line = |entry: &Value| {
            (
                entry["delta"].as_i64().unwrap(),
                entry["reason"].as_str().unwrap().to_owned(),
            )
        };
        entries.map(line).collect()
    }

    /// A user's balance of the product.
    pub async fn balance(&self, user: &str) -> Value {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        let wallet = self.secret.get(&path).await.expect(200);
        wallet["balances"][0]["balance"].clone()
    }
}

/// Starts to serve; returns its parts and its address.
async fn serve(
    (clock, journal): (&Arc<ManualClock>, &Arc<MemoryJournal>),
    files: &Path,
    change: impl FnOnce(&mut Config),
) -> (Arc<AppState>, String) {
    let mut config = Config::defaults().unwrap();
    config.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    config.data_dir = files.to_owned();
    // Nothing listens there: a test that sells sets the address of its provider.
    config.stripe.api_base = "http://127.0.0.1:1".parse().unwrap();
    // The double has no rate limit.
    config.stripe.background_per_second = 1_000_000;
    // Tests read mails from files.
    config.mail.files = true;
    change(&mut config);
    let ground = Platform {
        store: Store::of(Arc::clone(journal)),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
    };
    let secrets = ProvidedSecrets {
        admin_token: Some(ADMIN_TOKEN.into()),
        server_key: Some("07".repeat(32)),
    };
    let service = compose::Service::start_on(ground, config, secrets);
    let service = service.await.unwrap();
    let base = format!("http://{}", service.address());
    let app = Arc::clone(&service.app);
    tokio::spawn(service.answer());
    (app, base)
}

/// Ledger entries in the form of [`Service::ledger`].
#[must_use]
pub fn lines(expected: &[(i64, &str)]) -> Vec<(i64, String)> {
    let line = |&(delta, reason): &(i64, &str)| (delta, reason.to_owned());
    expected.iter().map(line).collect()
}

/// Asserts that a reply is this refusal.
#[track_caller]
pub fn assert_refused(reply: &Reply, status: u16, code: &str) {
    assert_eq!(
        (reply.status, reply.code()),
        (status, code),
        "{}",
        reply.body
    );
    assert!(
        !reply.body["message"].as_str().unwrap().is_empty(),
        "{}",
        reply.body
    );
    assert_eq!(
        reply.body["requestId"],
        header(reply, "x-request-id").unwrap()
    );
    assert_eq!(reply.body["docs"], format!("/docs/errors#{code}"));
}

/// Asserts that a reply refuses this input.
#[track_caller]
pub fn assert_invalid(reply: &Reply, param: &str) {
    assert_refused(reply, 400, "invalid_request");
    assert_eq!(reply.body["param"], param, "{}", reply.body);
}

/// A header of a reply.
pub fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    header_of(&reply.headers, name)
}

/// A header's value as text.
pub fn header_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}
