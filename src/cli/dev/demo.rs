//! The demo project: created once, remembered in `dev.json`, created again when a part is missing.

use std::path::{Path, PathBuf};

use accounts::ChangeError;
use actors::{Address, Scope};
use domain::{
    Amount,
    catalog::{Interval, KeyKind, Mode, ProductType, Provider},
    id::{ProductId, ProjectId},
    text::{ExternalUserId, IdempotencyKey},
    wallet::credit::Credit,
};
use operations::data_dir::secrets;
use serde::{Deserialize, Serialize};
use url::Url;
use uuid::Uuid;

use super::Failure;
use crate::{
    catalog::{
        NewPrice, NewProduct, NewProject, ProjectChange, ProviderChange, random_text, sha256,
    },
    cli::print,
    compose::Service,
    server,
};

/// The demo user, whose wallet gets credits to spend.
pub(in crate::cli) const USER: &str = "user_demo";
/// The credit unit of the demo product.
pub(in crate::cli) const UNIT: &str = "credits";

const FILE: &str = "dev.json";
const PROJECT: &str = "Demo";
const FUNDS: i64 = 1000;
const TOKEN_LENGTH: usize = 40;

/// The contents of `dev.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::cli) struct Demo {
    /// The project's id.
    pub(in crate::cli) project: String,
    /// The key for browsers.
    pub(in crate::cli) publishable_key: String,
    /// The key for servers.
    pub(in crate::cli) secret_key: String,
    /// Id of the credit product.
    pub(in crate::cli) product: String,
    /// Id of the credit product's price.
    pub(in crate::cli) price: String,
    /// Id of the subscription's smaller tier.
    pub(in crate::cli) tier: String,
    /// Token of the admin API.
    pub(in crate::cli) admin_token: String,
    /// The server's address.
    #[serde(default)]
    pub(in crate::cli) url: String,
    /// Whether it sells through a Stripe account.
    #[serde(skip)]
    pub(in crate::cli) stripe: bool,
}

impl Demo {
    /// The administrator's token of the last start, or a new one.
    pub(in crate::cli) fn remembered_token(data_dir: &Path) -> Result<String, Failure> {
        match Self::read(data_dir) {
            Some(demo) => Ok(demo.admin_token),
            None => random_text(TOKEN_LENGTH).map_err(Failure::new),
        }
    }

    /// Reads or creates the demo. The service has locked the data directory by now.
    pub(in crate::cli) async fn set_up(
        service: &Service,
        data_dir: &Path,
        admin_token: String,
        stripe_key: Option<String>,
    ) -> Result<Self, Failure> {
        let mut demo = match Self::read(data_dir).filter(|demo| demo.holds(service)) {
            Some(demo) => demo,
            None => Self::make(service).await?,
        };
        demo.admin_token = admin_token;
        let address = server::reachable(service.address());
        demo.url = format!("{}://{address}", service.scheme());
        demo.stripe = stripe_key.is_some();
        demo.set_provider(service, stripe_key).await?;
        let text = serde_json::to_string_pretty(&demo).map_err(Failure::new)?;
        secrets::write(&path(data_dir), &text).map_err(Failure::new)?;
        // These secrets must not be committed to a repository.
        secrets::write(&data_dir.join(".gitignore"), "*").map_err(Failure::new)?;
        demo.fund(service).await?;
        Ok(demo)
    }

    /// Sets the payment provider: the given Stripe account, or the sandbox, where anybody who can reach this
    /// server can pay without money.
    async fn set_provider(&self, service: &Service, key: Option<String>) -> Result<(), Failure> {
        let provider = match key {
            None => ProviderChange::Sandbox,
            Some(key) => {
                if key.contains("_live_") {
                    return Err(Failure::new(
                        "--stripe-key takes only a test mode key of Stripe: scrip dev is for trying things out",
                    ));
                }
                ProviderChange::Stripe {
                    secret_key: Some(key.into()),
                    webhook_secret: None,
                }
            }
        };
        let project = self.project.parse::<ProjectId>();
        let project =
            project.map_err(|_| Failure::new("dev.json contains an invalid project id"))?;
        let nothing = ProjectChange::default();
        // Forced: changing to and fro is fine where things are tried out.
        let set = service
            .app
            .accounts
            .change(project, nothing, provider, true);
        set.await.map_err(|error| match error {
            ChangeError::Key(words) => {
                Failure::new(format!("Stripe does not accept the key: {words}"))
            }
            other => Failure::new(other),
        })?;
        let known = service.app.catalog.project(project).map_err(Failure::new)?;
        let verified = known.provider().is_none_or(Provider::is_verified);
        if !verified {
            print::line("Stripe cannot be reached at present; it will be tried again");
        }
        let finished = service.app.payments.end_former_provider(project);
        finished.await.map_err(Failure::new)
    }

    /// Reads `dev.json`; `None` if there is none.
    pub(in crate::cli) fn read(data_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path(data_dir)).ok()?).ok()
    }

    /// The server's address; `None`: an older version did not store it.
    pub(in crate::cli) fn address(&self) -> Option<Url> {
        self.url.parse().ok()
    }

    /// Whether both keys still work and the product still exists.
    fn holds(&self, service: &Service) -> bool {
        let catalog = service.app.catalog.current();
        let now = service.app.edge.clock.now();
        let opens = |key: &str, kind: KeyKind| {
            let found = catalog.authenticate(&sha256(key.as_bytes()), now);
            found.filter(|found| {
                found.kind == kind && found.project.project.id.to_string() == self.project
            })
        };
        let product = self.product.parse::<ProductId>();
        opens(&self.publishable_key, KeyKind::Publishable).is_some()
            && opens(&self.secret_key, KeyKind::Secret).is_some_and(|found| {
                product.is_ok_and(|id| found.project.product(&id).is_some_and(|p| p.active))
            })
    }

    async fn make(service: &Service) -> Result<Self, Failure> {
        let catalog = &service.app.catalog;
        let new = NewProject {
            name: PROJECT.into(),
            mode: Mode::CreditCodes,
        };
        let (project, publishable, secret) =
            catalog.create_project(new).await.map_err(Failure::new)?;
        let offer = async |new: NewProduct| {
            let made = catalog.create_product(project.id, new).await;
            made.map(|made| made.id).map_err(Failure::new)
        };
        let sell = async |product, new: NewPrice| {
            let made = catalog.create_price(project.id, product, new).await;
            made.map(|made| made.id.to_string()).map_err(Failure::new)
        };
        let about = "Credits to try things out with.";
        let credits = offer(product(ProductType::Credits, "Demo credits", about)).await?;
        let about = "Credits each month, with extra features.";
        let plan = offer(product(ProductType::Subscription, "Demo plan", about)).await?;
        let about = "Unlocks exports permanently.";
        let unlock = offer(product(ProductType::OneTime, "Demo export", about)).await?;
        let tier = |price: NewPrice| NewPrice {
            credits_product: Some(credits),
            interval: Interval::Month,
            ..price
        };
        let pack = sell(credits, price("1,000 credits", 900, FUNDS, &[])).await?;
        let starter = sell(plan, tier(price("Starter", 900, 500, &["history"]))).await?;
        let studio = price("Studio", 2900, 2000, &["history", "priority"]);
        sell(plan, tier(studio)).await?;
        let mut once = price("", 1900, 0, &["export"]);
        once.label = None;
        sell(unlock, once).await?;
        Ok(Self {
            project: project.id.to_string(),
            publishable_key: publishable.plain,
            secret_key: secret.plain,
            product: credits.to_string(),
            price: pack,
            tier: starter,
            admin_token: String::new(),
            url: String::new(),
            stripe: false,
        })
    }

    /// Grants credits once, and again when few are left: the printed request must work.
    async fn fund(&self, service: &Service) -> Result<(), Failure> {
        let project = self.project.parse::<ProjectId>().map_err(Failure::new)?;
        let product = self.product.parse::<ProductId>().map_err(Failure::new)?;
        let catalog = service.app.catalog.project(project).map_err(Failure::new)?;
        let balance = grant(service, &catalog.scope, product, "demo-welcome").await?;
        if balance < FUNDS / 10 {
            let key = format!("demo-{}", Uuid::now_v7().simple());
            grant(service, &catalog.scope, product, &key).await?;
        }
        Ok(())
    }
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

/// A product of the demo; only that of credits has a unit.
fn product(kind: ProductType, name: &str, description: &str) -> NewProduct {
    NewProduct {
        name: name.into(),
        kind,
        description: Some(description.into()),
        credit_unit: (kind == ProductType::Credits).then(|| UNIT.into()),
        free_grant: None,
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
        active: true,
    }
}

/// A price that is paid once.
fn price(label: &str, amount_cents: i64, credits_granted: i64, features: &[&str]) -> NewPrice {
    NewPrice {
        label: Some(label.into()),
        amount_cents,
        currency: "EUR".into(),
        credits_granted,
        features: features.iter().map(ToString::to_string).collect(),
        ..NewPrice::default()
    }
}

async fn grant(
    service: &Service,
    scope: &Scope,
    product: ProductId,
    key: &str,
) -> Result<i64, Failure> {
    let user = ExternalUserId::new(USER).map_err(Failure::new)?;
    let command = Credit {
        product,
        amount: Amount::new(FUNDS).ok_or_else(|| Failure::new("no funds"))?,
        key: IdempotencyKey::new(key).map_err(Failure::new)?,
        meta: None,
        expires_at: None,
    };
    let applied = service
        .app
        .handle
        .credit(scope, &Address::External(user), command)
        .await;
    applied.map(|applied| applied.balance).map_err(Failure::new)
}
