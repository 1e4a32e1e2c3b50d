//! What the API and the administration share: who calls, how a request is read, how it is answered
//! and refused, and how all of that is described. It knows no endpoint.
//!
//! It must never log or repeat a key or a recovery code, and only `code.rs` knows statuses.

pub mod auth;
pub(crate) mod body;
pub mod code;
pub(crate) mod code_path;
pub(crate) mod context;
pub(crate) mod cors;
pub(crate) mod cursor;
pub mod edge;
pub mod error;
pub(crate) mod fallback;
pub(crate) mod field;
pub mod gate;
pub(crate) mod grant;
pub mod headers;
pub(crate) mod hold_path;
pub(crate) mod idempotency;
pub(crate) mod ledger;
mod misfit;
pub(crate) mod openapi;
pub(crate) mod order_name;
pub(crate) mod orders;
pub(crate) mod patch;
pub(crate) mod query;
pub(crate) mod redirect;
mod refusal;
pub mod request_id;
pub(crate) mod respond;
pub(crate) mod subject;
pub(crate) mod view;

pub use auth::{Administrator, AnyKey, SecretKey, Watcher};
pub(crate) use body::Body;
pub use code::ErrorCode;
pub use error::Error;
pub(crate) use field::Object;
