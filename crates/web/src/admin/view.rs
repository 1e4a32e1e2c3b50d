//! Projects, keys, products and prices as the administrator sees them: everything, also what is
//! inactive or revoked. `scrip apply` reads them back.

use ::catalog::ProjectCatalog;
use accounts::Accounts;
use domain::{
    catalog::{self, Account},
    time,
};
use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr,
        schema::{Schema, Type},
    },
};
use wire::view::Instant;

/// Declares the schemas of the catalog's own enums, which are read and written as they are.
macro_rules! enum_schemas {
    ($($name:ident: $description:literal, $texts:expr;)+) => {$(
        #[doc = $description]
        #[derive(Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let string = ObjectBuilder::new().schema_type(Type::String);
                let string = string.description(Some($description));
                string.enum_values(Some($texts)).into()
            }
        }

        impl ToSchema for $name {}
    )+};
}

enum_schemas! {
    Mode: "How a project's wallets are addressed.", ["credit_codes", "external_users"];
    KeyKind: "What a key may do.", ["publishable", "secret"];
    ProductType: "What a product is.", ["credits", "subscription", "one_time"];
    Interval: "How often a price is charged.", ["one_time", "month", "year"];
    Period: "How often a free grant is given, by the UTC calendar.",
        ["once", "daily", "weekly", "monthly", "yearly"];
}

/// A limit of anonymous wallets in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreationLimit {
    /// Wallets, at least 1.
    #[schema(minimum = 1, maximum = 4_294_967_295_u32)]
    pub max: u32,
    /// Seconds, at most a year.
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub window_seconds: u32,
}

/// A project with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The project's identifier.
    #[schema(example = "proj_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    pub id: String,
    /// The project's name.
    pub name: String,
    /// How its wallets are addressed.
    #[schema(value_type = Mode)]
    pub mode: catalog::Mode,
    /// Origins that a publishable key may redirect to; empty: any.
    pub allowed_origins: Vec<String>,
    /// Anonymous wallets for the whole project; null: no limit.
    pub wallet_creation_limit: Option<CreationLimit>,
    /// Anonymous wallets for each client address; null: no limit.
    pub wallet_creation_limit_per_ip: Option<CreationLimit>,
    /// Whether anonymous wallets get free grants.
    pub free_grants_for_code_wallets: bool,
    /// Days for which a past-due subscription keeps its features.
    pub subscription_grace_days: u32,
    /// Whether the provider adds the tax that is due where the buyer is.
    pub automatic_tax: bool,
    /// Whether buyers who are businesses may enter their tax number.
    pub collect_tax_ids: bool,
    /// Whether buyers have to enter their billing address.
    pub collect_billing_address: bool,
    /// Whether what is paid once gets an invoice too.
    pub invoices: bool,
    /// Whether buyers have to agree to the terms of service.
    pub terms_of_service: bool,
    /// Refunds of more cents than this need another person's yes on the dashboard; null: none do.
    pub approval_above_cents: Option<i64>,
    /// Grants of more credits than this need another person's yes on the dashboard; null: none do.
    pub approval_above_credits: Option<i64>,
    /// Whether it is archived: its keys sell and spend nothing new.
    pub archived: bool,
    /// Its payment provider; null: none, and nothing can be bought.
    pub provider: Option<Provider>,
    /// When it was made.
    pub created_at: String,
}

/// A payment provider. Its secrets are never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    /// `sandbox` or `stripe`
    #[schema(example = "stripe")]
    pub kind: String,
    /// The address that its webhooks have to be sent to, for Stripe's dashboard.
    pub webhook_url: String,
    /// Whether its key was tried and works; until it could be reached, false.
    pub verified: bool,
    /// Whether orders and subscriptions of a former provider are still being ended; nothing can be
    /// bought until then.
    pub changing: bool,
}

/// A project that was just created, with a key of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedProject {
    /// The project that was made.
    #[serde(flatten)]
    pub project: Project,
    /// The key for browsers.
    pub publishable_key: String,
    /// The key for servers. Shown only now.
    pub secret_key: String,
}

/// All projects of this server.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Projects {
    /// The projects, oldest first.
    pub projects: Vec<Project>,
}

/// Credits that every wallet gets each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FreeGrant {
    /// Credits of each grant.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    pub credits: i64,
    /// How often they are granted.
    #[schema(value_type = Period)]
    pub period: time::Period,
}

/// A product with all of its prices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Product {
    /// The product's identifier.
    #[schema(example = "prod_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    pub id: String,
    /// The product's name.
    pub name: String,
    /// A sentence about it.
    pub description: Option<String>,
    /// What the product is.
    #[serde(rename = "type")]
    #[schema(value_type = ProductType)]
    pub kind: catalog::ProductType,
    /// What its credits are called; null: it holds none.
    pub credit_unit: Option<String>,
    /// Credits that every wallet gets for free; null: none.
    pub free_grant: Option<FreeGrant>,
    /// A balance that falls to this many credits or fewer is reported as low; null: none is.
    pub low_balance: Option<i64>,
    /// The most credits that one external wallet may owe, unless it has a limit of its own.
    pub debt_limit: i64,
    /// Whether it is offered.
    pub active: bool,
    /// When it was made.
    pub created_at: String,
    /// All of its prices, oldest first, inactive ones too.
    pub prices: Vec<Price>,
}

/// All products of a project.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Products {
    /// Oldest first, inactive ones too.
    pub products: Vec<Product>,
}

/// A price of a product; of a subscription, a tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// The price's identifier.
    #[schema(example = "price_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    pub id: String,
    /// The product's identifier.
    pub product_id: String,
    /// The tier's name.
    pub label: Option<String>,
    /// In the currency's minor unit.
    pub amount_cents: i64,
    /// ISO 4217, upper case.
    pub currency: String,
    /// Credits that it grants; for a subscription in each cycle.
    pub credits_granted: i64,
    /// The product whose balance it fills; null: its own.
    pub credits_product_id: Option<String>,
    /// Days until the credits expire; null: never.
    pub credits_expire_after_days: Option<u32>,
    /// Whether a cycle's unused credits stay.
    pub rollover: bool,
    /// Features that it unlocks, sorted.
    pub features: Vec<String>,
    /// How often it is charged.
    #[schema(value_type = Interval)]
    pub interval: catalog::Interval,
    /// Days for which a subscription is free at first; null: none.
    pub trial_days: Option<u32>,
    /// Credits for those days.
    pub trial_credits: i64,
    /// Whether a wallet that has bought what it unlocks may buy it again.
    pub repeatable: bool,
    /// Whether it is offered.
    pub active: bool,
    /// When it was made.
    pub created_at: String,
}

/// All prices of a product.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Prices {
    /// Oldest first, inactive ones too.
    pub prices: Vec<Price>,
}

impl Project {
    /// A project with its provider, if one was ever set.
    pub(super) fn of(
        project: &catalog::Project,
        provider: Option<&catalog::Provider>,
        accounts: &Accounts,
    ) -> Self {
        let kind = provider.and_then(|provider| match provider.account {
            Account::None => None,
            Account::Sandbox => Some("sandbox"),
            Account::Stripe(_) => Some("stripe"),
        });
        Self {
            id: project.id.to_string(),
            name: project.name.clone(),
            mode: project.mode,
            allowed_origins: project.allowed_origins.clone(),
            wallet_creation_limit: project.wallet_creation_limit.map(Into::into),
            wallet_creation_limit_per_ip: project.wallet_creation_limit_per_ip.map(Into::into),
            free_grants_for_code_wallets: project.free_grants_for_code_wallets,
            subscription_grace_days: project.subscription_grace_days,
            automatic_tax: project.checkout.automatic_tax,
            collect_tax_ids: project.checkout.collect_tax_ids,
            collect_billing_address: project.checkout.collect_billing_address,
            invoices: project.checkout.invoices,
            terms_of_service: project.checkout.terms_of_service,
            approval_above_cents: project.approval.above_cents,
            approval_above_credits: project.approval.above_credits,
            archived: project.archived,
            provider: kind.map(|kind| Provider {
                kind: kind.into(),
                webhook_url: accounts.webhook_url(project.id),
                verified: provider.is_none_or(catalog::Provider::is_verified),
                changing: provider.is_some_and(|provider| provider.epoch.leaving),
            }),
            created_at: Instant(project.created_at).to_string(),
        }
    }
}

impl Product {
    /// A product with its prices in the catalog.
    pub(super) fn of(product: &catalog::Product, catalog: &ProjectCatalog) -> Self {
        Self {
            id: product.id.to_string(),
            name: product.name.clone(),
            description: product.description.clone(),
            kind: product.kind,
            credit_unit: product.credit_unit.clone(),
            free_grant: product.free_grant.map(Into::into),
            low_balance: product.low_balance,
            debt_limit: product.debt_limit,
            active: product.active,
            created_at: Instant(product.created_at).to_string(),
            prices: catalog.prices(&product.id).map(Into::into).collect(),
        }
    }
}

impl From<&catalog::Price> for Price {
    fn from(price: &catalog::Price) -> Self {
        Self {
            id: price.id.to_string(),
            product_id: price.product.to_string(),
            label: price.label.clone(),
            amount_cents: price.amount_cents,
            currency: price.currency.clone(),
            credits_granted: price.credits_granted,
            credits_product_id: price.credits_product.map(|id| id.to_string()),
            credits_expire_after_days: price.credits_expire_after_days,
            rollover: price.rollover,
            features: price
                .features
                .iter()
                .map(|slug| slug.as_str().to_owned())
                .collect(),
            interval: price.interval,
            trial_days: price.trial_days,
            trial_credits: price.trial_credits,
            repeatable: price.repeatable,
            active: price.active,
            created_at: Instant(price.created_at).to_string(),
        }
    }
}

impl From<catalog::FreeGrant> for FreeGrant {
    fn from(grant: catalog::FreeGrant) -> Self {
        Self {
            credits: grant.credits.get(),
            period: grant.period,
        }
    }
}

impl From<catalog::CreationLimit> for CreationLimit {
    fn from(limit: catalog::CreationLimit) -> Self {
        Self {
            max: limit.max,
            window_seconds: limit.window_seconds,
        }
    }
}
