//! The demo project: created once, remembered in `dev.json`, created again when a part is missing.

use std::path::{Path, PathBuf};

use accounts::ChangeError;
use actors::{Address, Scope};
use domain::{
    Amount,
    catalog::{Interval, KeyKind, Mode, ProductType, Provider},
    id::{PriceId, ProductId, ProjectId},
    text::{ExternalUserId, IdempotencyKey},
    wallet::credit::Credit,
};
use operations::data_dir::secrets;
use serde::{Deserialize, Serialize};
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
pub(super) const USER: &str = "user_demo";
/// The credit unit of the demo product.
pub(super) const UNIT: &str = "credits";

const FILE: &str = "dev.json";
const PROJECT: &str = "Demo";
const FUNDS: i64 = 1000;
const TOKEN_LENGTH: usize = 40;

/// The contents of `dev.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Demo {
    /// The project's id.
    pub(super) project: String,
    /// The key for browsers.
    pub(super) publishable_key: String,
    /// The key for servers.
    pub(super) secret_key: String,
    /// Id of the credit product.
    pub(super) product: String,
    /// Id of the credit product's price.
    pub(super) price: String,
    /// Id of the subscription's smaller tier.
    pub(super) tier: String,
    /// Token of the admin API.
    pub(super) admin_token: String,
    /// The server's address.
    #[serde(default)]
    pub(super) url: String,
    /// Whether it sells through a Stripe account.
    #[serde(skip)]
    pub(super) stripe: bool,
}

impl Demo {
    /// The administrator's token of the last start, or a new one.
    pub(super) fn remembered_token(data_dir: &Path) -> Result<String, Failure> {
        match Self::read(data_dir) {
            Some(demo) => Ok(demo.admin_token),
            None => random_text(TOKEN_LENGTH).map_err(Failure::new),
        }
    }

    /// Reads or creates the demo. The service has locked the data directory by now.
    pub(super) async fn set_up(
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
        let set = service.accounts().change(project, nothing, provider, true);
        set.await.map_err(|error| match error {
            ChangeError::Key(words) => {
                Failure::new(format!("Stripe does not accept the key: {words}"))
            }
            other => Failure::new(other),
        })?;
        let known = service.catalog().project(project).map_err(Failure::new)?;
        let verified = known.provider().is_none_or(Provider::is_verified);
        if !verified {
            print::line("Stripe cannot be reached at present; it will be tried again");
        }
        let finished = service.payments().end_former_provider(project);
        finished.await.map_err(Failure::new)
    }

    /// Reads `dev.json`; `None` if there is none.
    pub(super) fn read(data_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path(data_dir)).ok()?).ok()
    }

    /// Whether both keys still work and the product still exists.
    fn holds(&self, service: &Service) -> bool {
        let catalog = service.catalog().current();
        let now = service.app().edge.clock.now();
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
        let catalog = service.catalog();
        let new = NewProject {
            name: PROJECT.into(),
            mode: Mode::CreditCodes,
        };
        let (project, publishable, secret) =
            catalog.create_project(new).await.map_err(Failure::new)?;
        let product = NewProduct {
            name: "Demo credits".into(),
            kind: ProductType::Credits,
            description: Some("Credits to try things out with.".into()),
            credit_unit: Some(UNIT.into()),
            free_grant: None,
            low_balance: None,
            debt_limit: 0,
            active: true,
        };
        let product = catalog
            .create_product(project.id, product)
            .await
            .map_err(Failure::new)?;
        let price = catalog.create_price(project.id, product.id, price()).await;
        let price = price.map_err(Failure::new)?;
        let tier = Self::add_tiers(service, project.id, product.id).await?;
        Self::add_unlock(service, project.id).await?;
        Ok(Self {
            project: project.id.to_string(),
            publishable_key: publishable.plain,
            secret_key: secret.plain,
            product: product.id.to_string(),
            price: price.id.to_string(),
            tier: tier.to_string(),
            admin_token: String::new(),
            url: String::new(),
            stripe: false,
        })
    }

    /// Adds a subscription of two tiers that fills the credit product; returns the smaller tier.
    async fn add_tiers(
        service: &Service,
        project: ProjectId,
        credits: ProductId,
    ) -> Result<PriceId, Failure> {
        let catalog = service.catalog();
        let plan = NewProduct {
            name: "Demo plan".into(),
            kind: ProductType::Subscription,
            description: Some("Credits each month, with extra features.".into()),
            credit_unit: None,
            free_grant: None,
            low_balance: None,
            debt_limit: 0,
            active: true,
        };
        let plan = catalog.create_product(project, plan).await;
        let plan = plan.map_err(Failure::new)?.id;
        let mut first = None;
        for (label, cents, granted, features) in [
            ("Starter", 900, 500, vec!["history"]),
            ("Studio", 2900, 2000, vec!["history", "priority"]),
        ] {
            let tier = NewPrice {
                label: Some(label.into()),
                amount_cents: cents,
                credits_granted: granted,
                credits_product: Some(credits),
                features: features.into_iter().map(str::to_owned).collect(),
                interval: Interval::Month,
                ..price()
            };
            let tier = catalog.create_price(project, plan, tier).await;
            first.get_or_insert(tier.map_err(Failure::new)?.id);
        }
        first.ok_or_else(|| Failure::new("the demo has no tier"))
    }

    /// Adds a product that is bought once and kept.
    async fn add_unlock(service: &Service, project: ProjectId) -> Result<(), Failure> {
        let unlock = NewProduct {
            name: "Demo export".into(),
            kind: ProductType::OneTime,
            description: Some("Unlocks exports permanently.".into()),
            credit_unit: None,
            free_grant: None,
            low_balance: None,
            debt_limit: 0,
            active: true,
        };
        let catalog = service.catalog();
        let unlock = catalog.create_product(project, unlock).await;
        let unlock = unlock.map_err(Failure::new)?.id;
        let once = NewPrice {
            label: None,
            amount_cents: 1900,
            credits_granted: 0,
            features: vec!["export".into()],
            ..price()
        };
        let once = catalog.create_price(project, unlock, once).await;
        once.map(drop).map_err(Failure::new)
    }

    /// Grants credits once, and again when few are left: the printed request must work.
    async fn fund(&self, service: &Service) -> Result<(), Failure> {
        let project = self.project.parse::<ProjectId>().map_err(Failure::new)?;
        let product = self.product.parse::<ProductId>().map_err(Failure::new)?;
        let catalog = service.catalog().project(project).map_err(Failure::new)?;
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

fn price() -> NewPrice {
    NewPrice {
        label: Some("1,000 credits".into()),
        amount_cents: 900,
        currency: "EUR".into(),
        credits_granted: FUNDS,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        repeatable: false,
        trial_days: None,
        trial_credits: 0,
        features: Vec::new(),
        interval: Interval::OneTime,
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
        .handle()
        .credit(scope, &Address::External(user), command)
        .await;
    applied.map(|applied| applied.balance).map_err(Failure::new)
}
