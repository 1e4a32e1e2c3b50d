//! Documents of the catalog. Rules that a request could change are the catalog's to check, when it is
//! loaded; here is only what a type cannot hold.

use domain::{
    Timestamp, catalog,
    id::{KeyId, ProductId, ProjectId},
};
use serde::{Deserialize, Serialize};

use super::{
    endpoint::Endpoint,
    kind::{KeyKind, Mode, Period, ProductType},
    price::Price,
    provider::Provider,
    read::{amount, instant, millis},
};
use crate::contract::Error;

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Document<'a> {
    #[serde(borrow)]
    Project(Box<Project<'a>>),
    Key(Box<ApiKey<'a>>),
    Product(Box<Product<'a>>),
    Price(Box<Price<'a>>),
    Provider(Box<Provider<'a>>),
    Endpoint(Box<Endpoint<'a>>),
}

impl<'a> From<&'a catalog::Document> for Document<'a> {
    fn from(from: &'a catalog::Document) -> Self {
        match from {
            catalog::Document::Project(project) => Self::Project(Box::new(project.into())),
            catalog::Document::Key(key) => Self::Key(Box::new(key.into())),
            catalog::Document::Product(product) => Self::Product(Box::new(product.into())),
            catalog::Document::Price(price) => Self::Price(Box::new(price.into())),
            catalog::Document::Provider(provider) => Self::Provider(Box::new(provider.into())),
            catalog::Document::Endpoint(endpoint) => Self::Endpoint(Box::new(endpoint.into())),
        }
    }
}

impl TryFrom<Document<'_>> for catalog::Document {
    type Error = Error;

    fn try_from(from: Document<'_>) -> Result<Self, Error> {
        Ok(match from {
            Document::Project(project) => Self::Project((*project).into()),
            Document::Key(key) => Self::Key((*key).into()),
            Document::Product(product) => Self::Product((*product).try_into()?),
            Document::Price(price) => Self::Price((*price).try_into()?),
            Document::Provider(provider) => Self::Provider((*provider).into()),
            Document::Endpoint(endpoint) => Self::Endpoint((*endpoint).into()),
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Project<'a> {
    id: u128,
    name: &'a str,
    mode: Mode,
    allowed_origins: Vec<&'a str>,
    wallet_creation_limit: Option<CreationLimit>,
    wallet_creation_limit_per_ip: Option<CreationLimit>,
    free_grants_for_code_wallets: bool,
    subscription_grace_days: u32,
    checkout: Checkout,
    created_at: i64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Checkout {
    automatic_tax: bool,
    collect_tax_ids: bool,
    collect_billing_address: bool,
    invoices: bool,
    terms_of_service: bool,
}

impl From<catalog::CheckoutSettings> for Checkout {
    fn from(from: catalog::CheckoutSettings) -> Self {
        let catalog::CheckoutSettings {
            automatic_tax,
            collect_tax_ids,
            collect_billing_address,
            invoices,
            terms_of_service,
        } = from;
        Self {
            automatic_tax,
            collect_tax_ids,
            collect_billing_address,
            invoices,
            terms_of_service,
        }
    }
}

impl From<Checkout> for catalog::CheckoutSettings {
    fn from(from: Checkout) -> Self {
        Self {
            automatic_tax: from.automatic_tax,
            collect_tax_ids: from.collect_tax_ids,
            collect_billing_address: from.collect_billing_address,
            invoices: from.invoices,
            terms_of_service: from.terms_of_service,
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct CreationLimit {
    max: u32,
    window_seconds: u32,
}

impl From<catalog::CreationLimit> for CreationLimit {
    fn from(from: catalog::CreationLimit) -> Self {
        let catalog::CreationLimit {
            max,
            window_seconds,
        } = from;
        Self {
            max,
            window_seconds,
        }
    }
}

impl From<CreationLimit> for catalog::CreationLimit {
    fn from(from: CreationLimit) -> Self {
        Self {
            max: from.max,
            window_seconds: from.window_seconds,
        }
    }
}

impl<'a> From<&'a catalog::Project> for Project<'a> {
    fn from(from: &'a catalog::Project) -> Self {
        let catalog::Project {
            id,
            name,
            mode,
            allowed_origins,
            wallet_creation_limit,
            wallet_creation_limit_per_ip,
            free_grants_for_code_wallets,
            subscription_grace_days,
            checkout,
            created_at,
        } = from;
        Self {
            id: id.0,
            name,
            mode: (*mode).into(),
            allowed_origins: allowed_origins.iter().map(String::as_str).collect(),
            wallet_creation_limit: wallet_creation_limit.map(CreationLimit::from),
            wallet_creation_limit_per_ip: wallet_creation_limit_per_ip.map(CreationLimit::from),
            free_grants_for_code_wallets: *free_grants_for_code_wallets,
            subscription_grace_days: *subscription_grace_days,
            checkout: (*checkout).into(),
            created_at: created_at.0,
        }
    }
}

impl From<Project<'_>> for catalog::Project {
    fn from(from: Project<'_>) -> Self {
        let limit = |limit: Option<CreationLimit>| limit.map(catalog::CreationLimit::from);
        Self {
            id: ProjectId(from.id),
            name: from.name.into(),
            mode: from.mode.into(),
            allowed_origins: from
                .allowed_origins
                .into_iter()
                .map(str::to_owned)
                .collect(),
            wallet_creation_limit: limit(from.wallet_creation_limit),
            wallet_creation_limit_per_ip: limit(from.wallet_creation_limit_per_ip),
            free_grants_for_code_wallets: from.free_grants_for_code_wallets,
            subscription_grace_days: from.subscription_grace_days,
            checkout: from.checkout.into(),
            created_at: Timestamp(from.created_at),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ApiKey<'a> {
    id: u128,
    project: u128,
    kind: KeyKind,
    hash: [u8; 32],
    public: Option<&'a str>,
    created_at: i64,
    revoked_at: Option<i64>,
}

impl<'a> From<&'a catalog::ApiKey> for ApiKey<'a> {
    fn from(from: &'a catalog::ApiKey) -> Self {
        let catalog::ApiKey {
            id,
            project,
            kind,
            hash,
            public,
            created_at,
            revoked_at,
        } = from;
        Self {
            id: id.0,
            project: project.0,
            kind: (*kind).into(),
            hash: *hash,
            public: public.as_deref(),
            created_at: created_at.0,
            revoked_at: millis(*revoked_at),
        }
    }
}

impl From<ApiKey<'_>> for catalog::ApiKey {
    fn from(from: ApiKey<'_>) -> Self {
        Self {
            id: KeyId(from.id),
            project: ProjectId(from.project),
            kind: from.kind.into(),
            hash: from.hash,
            public: from.public.map(str::to_owned),
            created_at: Timestamp(from.created_at),
            revoked_at: instant(from.revoked_at),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Product<'a> {
    id: u128,
    project: u128,
    name: &'a str,
    description: Option<&'a str>,
    kind: ProductType,
    credit_unit: Option<&'a str>,
    free_grant: Option<FreeGrant>,
    low_balance: Option<i64>,
    active: bool,
    created_at: i64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct FreeGrant {
    credits: i64,
    period: Period,
}

impl<'a> From<&'a catalog::Product> for Product<'a> {
    fn from(from: &'a catalog::Product) -> Self {
        let catalog::Product {
            id,
            project,
            name,
            description,
            kind,
            credit_unit,
            free_grant,
            low_balance,
            active,
            created_at,
        } = from;
        let grant = |catalog::FreeGrant { credits, period }| FreeGrant {
            credits: domain::Amount::get(credits),
            period: Period::from(period),
        };
        Self {
            id: id.0,
            project: project.0,
            name,
            description: description.as_deref(),
            kind: (*kind).into(),
            credit_unit: credit_unit.as_deref(),
            free_grant: free_grant.map(grant),
            low_balance: *low_balance,
            active: *active,
            created_at: created_at.0,
        }
    }
}

impl TryFrom<Product<'_>> for catalog::Product {
    type Error = Error;

    fn try_from(from: Product<'_>) -> Result<Self, Error> {
        let grant = |FreeGrant { credits, period }| {
            Ok::<_, Error>(catalog::FreeGrant {
                credits: amount(credits)?,
                period: period.into(),
            })
        };
        Ok(Self {
            id: ProductId(from.id),
            project: ProjectId(from.project),
            name: from.name.into(),
            description: from.description.map(str::to_owned),
            kind: from.kind.into(),
            credit_unit: from.credit_unit.map(str::to_owned),
            free_grant: from.free_grant.map(grant).transpose()?,
            low_balance: from.low_balance,
            active: from.active,
            created_at: Timestamp(from.created_at),
        })
    }
}
