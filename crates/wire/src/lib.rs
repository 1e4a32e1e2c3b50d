//! What goes over the wire, apart from any endpoint: fields that read and describe themselves, what callers see of
//! wallets, orders and events, and refusals with their codes. It knows no request and no state of the service.
//!
//! It must never log or repeat a key or a recovery code, and only `code.rs` knows statuses.

pub mod code;
pub mod csv;
pub mod cursor;
pub mod error;
pub mod fallback;
pub mod field;
pub mod headers;
pub mod invalid_input;
pub mod note;
pub mod prefer;
mod refusal;
pub mod request_id;
pub mod respond;
pub mod view;
pub mod visible;

pub use code::ErrorCode;
pub use error::Error;
