//! Projects, keys, products, prices and webhook endpoints: held in memory as one immutable [`Catalog`], replaced as a
//! whole after each change. Requests read it without a lock; changes are made one at a time, and
//! nobody sees a change before it is durable.
//!
//! `domain::catalog` decides which documents are valid. This crate finds them for requests (`index.rs`), generates and
//! encrypts secrets (`keys.rs`, `providers.rs`, `endpoints.rs`), and writes in one place (`store.rs`).

mod cells;
mod endpoints;
mod error;
mod index;
mod key_hash;
mod key_use_writer;
mod key_uses;
mod keys;
mod limits;
mod origin;
mod providers;
mod rate_cards;
mod rates;
mod store;
#[cfg(test)]
mod tests;

pub use cells::{MAX_MOVED, OwnCellNote, ProjectCellNote, own_cell};
/// Commands of the catalog, whose rules are in the domain.
pub use domain::catalog::{
    EndpointChange, KeyChange, NewEndpoint, NewKey, NewPrice, NewProduct, NewProject, PriceChange,
    ProductChange, ProjectChange, SandboxChange,
};
pub use endpoints::MintedEndpoint;
pub use error::Error;
pub use index::{Authenticated, Catalog, ProjectCatalog};
pub use key_uses::KeyUseNote;
pub use keys::{Minted, MintedKey, random_text, sha256};
pub use origin::{is_loopback, origins};
pub use providers::ProviderChange;
pub use rates::{CardRates, RatesNote, VersionRates};
pub use store::CatalogStore;

/// A new unguessable, time-ordered identifier body.
fn new_id() -> u128 {
    uuid::Uuid::now_v7().as_u128()
}
