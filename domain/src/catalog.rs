//! Projects, keys, products and prices. Each is a document that replaces its former self.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    amount::Amount,
    id::{KeyId, PriceId, ProductId, ProjectId},
    provider::Provider,
    text::Feature,
    time::{Period, Timestamp},
};

/// How a project's wallets are addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Anonymous code wallets, and external ones.
    #[default]
    CreditCodes,
    /// External wallets only.
    ExternalUsers,
}

/// So many in so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreationLimit {
    /// Wallets.
    pub max: u32,
    /// Seconds.
    pub window_seconds: u32,
}

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its identifier.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// How its wallets are addressed.
    pub mode: Mode,
    /// Origins that a publishable key may redirect to; empty: any.
    pub allowed_origins: Vec<String>,
    /// Anonymous wallets per project; `None`: no limit.
    pub wallet_creation_limit: Option<CreationLimit>,
    /// Anonymous wallets per client address; `None`: no limit.
    pub wallet_creation_limit_per_ip: Option<CreationLimit>,
    /// Whether anonymous wallets get free grants.
    pub free_grants_for_code_wallets: bool,
    /// Days for which a past-due subscription keeps its features.
    pub subscription_grace_days: u32,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Project {
    /// A project with the documented defaults.
    #[must_use]
    pub const fn new(id: ProjectId, name: String, mode: Mode, created_at: Timestamp) -> Self {
        Self {
            id,
            name,
            mode,
            allowed_origins: Vec::new(),
            wallet_creation_limit: Some(CreationLimit {
                max: 1000,
                window_seconds: 3600,
            }),
            wallet_creation_limit_per_ip: Some(CreationLimit {
                max: 100,
                window_seconds: 3600,
            }),
            free_grants_for_code_wallets: true,
            subscription_grace_days: 7,
            created_at,
        }
    }
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Browser-safe.
    Publishable,
    /// Server only.
    Secret,
}

impl KeyKind {
    /// What keys of this kind start with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Publishable => "pay_pk_",
            Self::Secret => "pay_sk_",
        }
    }
}

/// An API key, by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Its name.
    pub id: KeyId,
    /// Whose.
    pub project: ProjectId,
    /// What it may do.
    pub kind: KeyKind,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// The key itself where it is public, so that it can be shown again.
    pub public: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
}

/// What a product is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProductType {
    /// Prepaid credits.
    Credits,
    /// Tiers billed each cycle.
    Subscription,
    /// Features bought once.
    OneTime,
}

/// Credits that every wallet gets each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeGrant {
    /// How many.
    pub credits: Amount,
    /// How often.
    pub period: Period,
}

/// Something to sell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Its identifier.
    pub id: ProductId,
    /// Whose.
    pub project: ProjectId,
    /// Its name.
    pub name: String,
    /// A sentence about it.
    pub description: Option<String>,
    /// What it is.
    pub kind: ProductType,
    /// What its credits are called; `None`: it holds none.
    pub credit_unit: Option<String>,
    /// Credits for nothing.
    pub free_grant: Option<FreeGrant>,
    /// Whether it is offered. Balances of an inactive product stay spendable.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// How often a price is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// Once.
    OneTime,
    /// Each month.
    Month,
    /// Each year.
    Year,
}

/// What a product costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Its identifier.
    pub id: PriceId,
    /// Whose.
    pub project: ProjectId,
    /// Of which product.
    pub product: ProductId,
    /// The tier's name.
    pub label: Option<String>,
    /// In the currency's minor unit.
    pub amount_cents: i64,
    /// ISO 4217, upper case.
    pub currency: String,
    /// Credits for it; 0: none.
    pub credits_granted: i64,
    /// The product whose balance it fills, if not its own.
    pub credits_product: Option<ProductId>,
    /// Days until the credits expire; `None`: never.
    pub credits_expire_after_days: Option<u32>,
    /// Whether a cycle's unused credits stay.
    pub rollover: bool,
    /// Features that it unlocks.
    pub features: BTreeSet<Feature>,
    /// How often it is charged.
    pub interval: Interval,
    /// Whether it is offered.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// One document of the catalog, as it is logged and stored. Variants are only added at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Document {
    /// A project.
    Project(Project),
    /// A key.
    Key(ApiKey),
    /// A product.
    Product(Product),
    /// A price.
    Price(Price),
    /// A project's payment provider.
    Provider(Provider),
}

impl Document {
    /// Kind and identifier: a document replaces the former one with the same.
    #[must_use]
    pub const fn address(&self) -> (u8, u128) {
        match self {
            Self::Project(project) => (1, project.id.0),
            Self::Key(key) => (2, key.id.0),
            Self::Product(product) => (3, product.id.0),
            Self::Price(price) => (4, price.id.0),
            Self::Provider(provider) => (5, provider.project.0),
        }
    }
}
