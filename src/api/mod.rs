//! The HTTP interface under `/api/v1`: one endpoint a file, named by its verb; all routes in
//! `router.rs`; who may call a handler is in its signature. It speaks to wallets through
//! [`actors::Handle`] and knows nothing of how they are kept.
//!
//! It must never log or repeat a key or a recovery code, and only `error.rs` knows statuses.

pub mod auth;
mod body;
mod checkout;
mod code_path;
mod context;
mod cors;
mod credit;
mod deduct;
mod deductions_batch;
pub mod edge;
pub mod error;
mod features;
mod field;
pub mod gate;
pub mod headers;
mod hold_path;
mod holds_create;
mod holds_extend;
mod holds_read;
mod holds_release;
mod holds_settle;
mod idempotency;
mod me;
mod meta;
mod order_view;
mod orders_list;
mod orders_read;
mod portal;
mod products;
mod query;
mod redirect;
pub mod request_id;
mod respond;
pub mod router;
pub mod short_way;
mod subject;
pub mod view;
mod wallets_create;
mod wallets_ledger;
mod wallets_open_external;
mod wallets_read;
mod wallets_recover;
mod wallets_rotate;
pub(crate) mod webhooks;

pub use auth::{Administrator, AnyKey, SecretKey, Watcher};
pub(crate) use body::Body;
pub(crate) use cors::CorsForBrowsers;
pub use error::{Code, Error};
pub(crate) use field::Object;
