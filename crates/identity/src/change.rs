//! Changes of a project by which one person could give what needs another person's yes.

use domain::{
    Timestamp,
    catalog::{NewKey, NewPrice, NewProduct, Product},
    id::{KeyId, PriceId, ProductId},
};
use serde::{Deserialize, Serialize};

use crate::Gift;

/// What somebody asks for that another person decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// To give something to a customer.
    Gift(Gift),
    /// To change the project.
    Change(Box<CatalogChange>),
}

/// A name of a secret key, and until when it works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyTerms {
    /// What its owners call it.
    pub name: Option<String>,
    /// From when on it does not work any more.
    pub expires_at: Option<Timestamp>,
}

/// A change of a project that brings credits or money without end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CatalogChange {
    /// A secret key. It is made once whoever asked comes for it, as nobody else may see it.
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
