//! The catalog: projects, keys, products, prices, payment providers and webhook endpoints. Each is a document, and a
//! new version replaces the old one. A file holds one kind with its commands and the rules that decide them. Finding
//! documents, storing them and decrypting secrets is done elsewhere.
//!
//! [`NewProject::decide`] and the like decide a command: they return the new document, or a [`Refusal`]. [`verify`]
//! checks stored documents against the same rules.

use serde::{Deserialize, Serialize};
mod ability;
mod charge;
mod checkout;
mod endpoint;
mod epoch;
mod key;
mod mail;
mod origin;
mod price;
mod product;
mod project;
mod provider;
mod refusal;
mod rules;
#[cfg(test)]
mod tests;
mod verify;

pub use self::{
    ability::Ability,
    charge::{decimals, minimum},
    checkout::{CheckoutChange, CheckoutSettings},
    endpoint::{Endpoint, EndpointChange, EndpointStatus, MAX_ENDPOINTS, MAX_EVENTS, NewEndpoint},
    epoch::{AccountCheck, ProviderAccount, ProviderEpoch, StripeAccount},
    key::{ApiKey, KeyChange, KeyKind, NewKey},
    mail::{MailChange, MailKind, MailLocale, MailSettings, MailTemplate},
    origin::Origin,
    price::{Interval, NewPrice, Price, PriceChange},
    product::{FreeGrant, NewProduct, Product, ProductChange, ProductType, Products},
    project::{ApprovalRules, CreationLimit, Mode, NewProject, Project, ProjectChange},
    provider::{
        Account, Advance, Ciphertext, Provider, ProviderChange, Sandbox, SandboxChange, SecretText,
        Stripe, WebhookSecret,
    },
    refusal::Refusal,
    verify::verify,
};
use crate::{id::ProjectId, rate_card::RateCard};

/// One document of the catalog, as it is logged and stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Document {
    /// A project and its settings.
    Project(Project),
    /// An API key.
    Key(ApiKey),
    /// A product of a project.
    Product(Product),
    /// A price of a product.
    Price(Price),
    /// A project's payment provider.
    Provider(Provider),
    /// A webhook endpoint of a project.
    Endpoint(Endpoint),
    /// A rate card of a project.
    RateCard(RateCard),
}

impl Document {
    /// Kind and identifier: a document replaces the former one with the same address.
    pub const fn address(&self) -> (u8, u128) {
        match self {
            Self::Project(project) => (1, project.id.0),
            Self::Key(key) => (2, key.id.0),
            Self::Product(product) => (3, product.id.0),
            Self::Price(price) => (4, price.id.0),
            Self::Provider(provider) => (5, provider.project.0),
            Self::Endpoint(endpoint) => (6, endpoint.id.0),
            Self::RateCard(card) => (7, card.id.0),
        }
    }

    /// The project that it belongs to, or is.
    pub const fn project(&self) -> ProjectId {
        match self {
            Self::Project(project) => project.id,
            Self::Key(key) => key.project,
            Self::Product(product) => product.project,
            Self::Price(price) => price.project,
            Self::Provider(provider) => provider.project,
            Self::Endpoint(endpoint) => endpoint.project,
            Self::RateCard(card) => card.project,
        }
    }
}
