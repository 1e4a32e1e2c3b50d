//! Projects, keys, products and prices: held in memory as one immutable [`Catalog`], replaced as a
//! whole after each change. Requests read it without a lock; changes are made one at a time, and
//! nobody sees a change before it is durable.
//!
//! One file per kind of document decides; only `store.rs` writes.

mod error;
mod index;
mod key_hash;
mod keys;
mod prices;
mod products;
mod projects;
mod providers;
mod rules;
mod store;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use index::{Authenticated, Catalog, ProjectCatalog};
pub(crate) use keys::random_text;
pub use keys::{MintedKey, sha256};
pub use prices::{NewPrice, PriceChange};
pub use products::{NewProduct, ProductChange};
pub use projects::{NewProject, ProjectChange};
pub use providers::{ProviderChange, SandboxChange};
pub(crate) use rules::is_loopback;
pub use store::CatalogStore;

/// A new unguessable, time-ordered identifier body.
fn new_id() -> u128 {
    uuid::Uuid::now_v7().as_u128()
}
