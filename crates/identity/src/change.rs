//! Changes of a project by which one person could evade approvals.

use domain::{
    Timestamp,
    catalog::{NewKey, NewPrice, NewProduct, Product},
    id::{KeyId, PriceId, ProductId},
};
use serde::{Deserialize, Serialize};

use crate::OutgoingValue;

/// What a second person approves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Credits or money for a customer.
    // The name in stored requests of earlier versions.
    Outgoing(OutgoingValue),
    /// A change of the project.
    Change(Box<CatalogChange>),
}

/// The name and the end of a secret key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyTerms {
    pub name: Option<String>,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
}

/// A change of a project that brings credits or money without end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CatalogChange {
    /// A secret key. The requester creates it once it is approved, and nobody else sees it.
    NewKey(NewKey),
    /// A later end of a secret key.
    Key {
        /// The identifier of the key.
        key: KeyId,
        /// What it was when somebody asked.
        before: KeyTerms,
        /// What it is to be.
        after: KeyTerms,
    },
    /// A product with free credits.
    NewProduct(NewProduct),
    /// Free credits of a product, or that it is offered again.
    Product {
        /// What it was when somebody asked.
        before: Product,
        /// What it is to be.
        after: NewProduct,
    },
    /// A price of a product.
    NewPrice {
        /// What is sold.
        product: ProductId,
        /// The price's terms.
        price: NewPrice,
    },
    /// That a price is offered again.
    OfferPrice {
        /// What is sold.
        product: ProductId,
        /// The identifier of the price.
        price: PriceId,
    },
    /// Free credits for anonymous wallets.
    FreeGrantsForCodeWallets,
}
