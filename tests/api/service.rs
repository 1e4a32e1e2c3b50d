//! The service on a journal in memory, with one project of one product.

use std::sync::Arc;

use actors::{
    Handle, Keyring, Options, Seal,
    clock::{Clock, ManualClock},
};
use domain::{
    Timestamp,
    catalog::{Interval, KeyKind, ProductType, Project},
    id::ProductId,
};
use persistence::{MemoryJournal, Store};
use reqwest::Method;
use scrip::{
    app::{self, AppState},
    catalog::{CatalogStore, NewPrice, NewProduct, NewProject, ProjectChange, sha256},
    config::{Config, Flags},
    limits::{Limits, Settings},
    metrics::Metrics,
    outbound::mail::Mailer,
    payments::{Payments, Place},
    server::{self, Server},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, Reply};

/// 2026-11-18T11:06:40Z
pub(crate) const START: Timestamp = Timestamp(1_795_000_000_000);
const SERVER_KEY: [u8; 32] = [7; 32];
pub(crate) const ADMIN_TOKEN: &str = "an administrator's token";
/// A code that opens nothing.
pub(crate) const NO_CODE: &str = "OLIVE-0000-0000-0000";

/// A running service; it ends with the test's runtime.
pub(crate) struct Service {
    pub(crate) base: String,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) journal: Arc<MemoryJournal>,
    pub(crate) catalog: Arc<CatalogStore>,
    pub(crate) handle: Handle,
    pub(crate) payments: Payments,
    pub(crate) mailer: Mailer,
    /// Where mails are written to.
    pub(crate) mails: TempDir,
    pub(crate) project: Project,
    /// The product's id.
    pub(crate) product: String,
    /// Calls with the project's publishable key.
    pub(crate) publishable: Client,
    /// Calls with its secret key.
    pub(crate) secret: Client,
}

impl Service {
    /// Starts one with the default settings.
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts one with other limits.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::beside("http://127.0.0.1:1", change).await
    }

    /// Starts one for which Stripe's API is at this address.
    pub(crate) async fn beside(stripe: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let journal = Arc::new(MemoryJournal::new());
        let handle = Handle::start(
            Store::of(Arc::clone(&journal)),
            Arc::clone(&clock) as Arc<dyn Clock>,
            Keyring::new(&SERVER_KEY),
            Options::default(),
        )
        .await
        .unwrap();
        let seal = Seal::new(&SERVER_KEY, "test");
        let catalog = Arc::new(CatalogStore::load(handle.clone(), seal).unwrap());
        let socket = server::reserve("127.0.0.1:0".parse().unwrap()).unwrap();
        let base = format!("http://{}", socket.local_addr().unwrap());
        let config = Config::read(&Flags::default()).unwrap();
        let mails = tempfile::tempdir().unwrap();
        let mailer = Mailer::start(&config.mail, mails.path()).unwrap();
        let place = Place {
            public_url: base.clone(),
            own_url: base.clone(),
            stripe_api: stripe.parse().unwrap(),
        };
        let payments =
            Payments::load(handle.clone(), Arc::clone(&catalog), place, &SERVER_KEY).unwrap();
        let mut settings = Settings::from(&config);
        change(&mut settings);
        let app = AppState {
            handle: handle.clone(),
            catalog: Arc::clone(&catalog),
            payments: payments.clone(),
            mailer: mailer.clone(),
            limits: Limits::new(settings),
            config: Arc::new(config.clone()),
            admin_token_sha256: sha256(ADMIN_TOKEN.as_bytes()),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            metrics: Metrics::new(),
        };
        let listener = server::listen(socket).unwrap();
        let server = Server::new(listener, app::service(Arc::new(app)), config.http);
        tokio::spawn(server.run(std::future::pending(), std::future::pending()));

        let new = NewProject {
            name: "Demo".into(),
            ..NewProject::default()
        };
        let (project, publishable, secret) = catalog.create_project(new).await.unwrap();
        let mut service = Self {
            publishable: Client::new(&base, &publishable.plain),
            secret: Client::new(&base, &secret.plain),
            product: String::new(),
            base,
            clock,
            journal,
            catalog,
            handle,
            payments,
            mailer,
            mails,
            project,
        };
        service.product = service.add_product("Render credits").await.to_string();
        service
    }

    /// Adds a product that holds credits.
    pub(crate) async fn add_product(&self, name: &str) -> ProductId {
        let new = NewProduct {
            name: name.into(),
            kind: ProductType::Credits,
            description: None,
            credit_unit: Some("renders".into()),
            free_grant: None,
            active: true,
        };
        self.catalog
            .create_product(self.project.id, new)
            .await
            .unwrap()
            .id
    }

    /// Adds a price of the product; its id.
    pub(crate) async fn add_price(&self, credits_granted: i64) -> String {
        let new = NewPrice {
            label: None,
            amount_cents: 500,
            currency: "EUR".into(),
            credits_granted,
            credits_product: None,
            credits_expire_after_days: None,
            rollover: false,
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

    /// Changes the project.
    pub(crate) async fn set(&self, change: ProjectChange) {
        self.catalog
            .update_project(self.project.id, change, None)
            .await
            .unwrap();
    }

    /// A client with a new key.
    pub(crate) async fn client(&self, kind: KeyKind) -> Client {
        let key = self
            .catalog
            .create_key(self.project.id, kind)
            .await
            .unwrap();
        Client::new(&self.base, &key.plain)
    }

    /// A client of another project.
    pub(crate) async fn stranger(&self, kind: KeyKind) -> Client {
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

    /// A request without a key.
    pub(crate) async fn anonymous(&self, method: Method, path: &str) -> Reply {
        self.with_authorization(method, path, None).await
    }

    /// A request with this `Authorization`, or none.
    pub(crate) async fn with_authorization(
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

    /// A new code wallet's code.
    pub(crate) async fn code(&self) -> String {
        let wallet = self
            .secret
            .post("/api/v1/wallets", &Value::Null)
            .await
            .expect(200);
        wallet["code"].as_str().unwrap().to_owned()
    }

    /// Grants a user credits.
    pub(crate) async fn grant(&self, user: &str, amount: i64) {
        let body = json!({
            "externalUserId": user, "productId": self.product, "amount": amount,
            "idempotencyKey": format!("grant {user} {amount}"),
        });
        self.secret.post("/api/v1/credit", &body).await.expect(200);
    }

    /// Grants a code wallet credits.
    pub(crate) async fn grant_code(&self, code: &str, amount: i64) {
        let body = json!({
            "code": code, "productId": self.product, "amount": amount,
            "idempotencyKey": format!("grant {amount}"),
        });
        self.secret.post("/api/v1/credit", &body).await.expect(200);
    }

    /// A user's balance of the product.
    pub(crate) async fn balance(&self, user: &str) -> Value {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        let wallet = self.secret.get(&path).await.expect(200);
        wallet["balances"][0]["balance"].clone()
    }
}

/// That an answer is this refusal.
#[track_caller]
pub(crate) fn assert_refused(reply: &Reply, status: u16, code: &str) {
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
}

/// That one input is at fault.
#[track_caller]
pub(crate) fn assert_invalid(reply: &Reply, param: &str) {
    assert_refused(reply, 400, "invalid_request");
    assert_eq!(reply.body["param"], param, "{}", reply.body);
}

/// A header of an answer.
pub(crate) fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.headers.get(name).map(|value| value.to_str().unwrap())
}
