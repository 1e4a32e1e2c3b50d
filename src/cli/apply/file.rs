//! The catalog file: a project's settings, its products with their prices, and its rate cards, with the admin API's
//! field names. What is serialized is sent to the admin API; the other fields are the file's own.

use api_types::{
    Limit,
    admin::{CreationLimit, MailTemplate},
};
use domain::{
    catalog::{FreeGrant, Interval, Mode, ProductType},
    rate_card::Rate,
};
use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct File {
    /// The project's settings; an omitted one stays as it is.
    pub(super) project: Option<ProjectSettings>,
    /// Products; an omitted field of one takes its default.
    #[serde(default)]
    pub(super) products: Vec<Product>,
    /// Rate cards; each is applied whole.
    #[serde(default)]
    pub(super) rate_cards: Vec<RateCard>,
}

/// Settings of the project, all optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProjectSettings {
    pub(super) name: Option<String>,
    pub(super) mode: Option<Mode>,
    pub(super) provider: Option<Provider>,
    pub(super) allowed_origins: Option<Vec<String>>,
    pub(super) wallet_creation_limit: Option<CreationLimit>,
    pub(super) wallet_creation_limit_per_ip: Option<CreationLimit>,
    pub(super) free_grants_for_code_wallets: Option<bool>,
    pub(super) subscription_grace_days: Option<u32>,
    pub(super) automatic_tax: Option<bool>,
    pub(super) collect_tax_ids: Option<bool>,
    pub(super) collect_billing_address: Option<bool>,
    pub(super) invoices: Option<bool>,
    pub(super) terms_of_service: Option<bool>,
    pub(super) mails: Option<ProjectMails>,
}

/// The mails of the project's customers, all optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProjectMails {
    pub(super) low_balance: Option<bool>,
    pub(super) top_up_failed: Option<bool>,
    pub(super) limit_reached: Option<bool>,
    pub(super) receipt: Option<bool>,
    pub(super) locale: Option<String>,
    pub(super) name: Option<String>,
    pub(super) color: Option<String>,
    pub(super) reply_to: Option<String>,
    pub(super) footer: Option<String>,
    pub(super) templates: Option<Vec<MailTemplate>>,
}

/// A payment provider that needs no secret.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Provider {
    Sandbox,
}

/// A product with its prices.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Product {
    /// The product's id, needed where its name alone does not identify it.
    #[serde(skip_serializing)]
    pub(super) id: Option<String>,
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: ProductType,
    pub(super) description: Option<String>,
    pub(super) credit_unit: Option<String>,
    pub(super) free_grant: Option<FreeGrant>,
    pub(super) low_balance: Option<i64>,
    #[serde(default)]
    pub(super) debt_limit: i64,
    #[serde(default)]
    pub(super) limits: Vec<Limit>,
    #[serde(default = "yes")]
    pub(super) active: bool,
    #[serde(default, skip_serializing)]
    pub(super) prices: Vec<Price>,
}

/// A price of a product.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Price {
    pub(super) label: Option<String>,
    pub(super) amount_cents: i64,
    pub(super) currency: String,
    #[serde(default)]
    pub(super) credits_granted: i64,
    /// The product whose balance it fills, by its name in this file [default: its own product].
    #[serde(skip_serializing)]
    pub(super) credits_product: Option<String>,
    pub(super) credits_expire_after_days: Option<u32>,
    #[serde(default)]
    pub(super) rollover: bool,
    #[serde(default)]
    pub(super) features: Vec<String>,
    pub(super) interval: Interval,
    pub(super) trial_days: Option<u32>,
    #[serde(default)]
    pub(super) trial_credits: i64,
    #[serde(default)]
    pub(super) repeatable: bool,
    #[serde(default)]
    pub(super) limits: Vec<Limit>,
    #[serde(default = "yes", skip_serializing)]
    pub(super) active: bool,
}

/// A rate card.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RateCard {
    pub(super) slug: String,
    /// The product whose credits the prices are in, by its name or id.
    #[serde(alias = "productId")]
    pub(super) product: String,
    pub(super) rates: Vec<Rate>,
    /// An instant, as a text or as TOML has it [default: now].
    effective_from: Option<toml::Value>,
}

impl RateCard {
    pub(super) fn effective_from(&self) -> Option<String> {
        self.effective_from.as_ref().map(|from| match from {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}

const fn yes() -> bool {
    true
}

impl File {
    /// Parses the text; the error names the line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }
}
