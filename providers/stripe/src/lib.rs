//! Stripe's API, as far as it is used: one file for each resource, each with the exact form that is
//! sent and the few fields of the answer that are read. Unknown fields and unknown words are
//! ignored, so that a newer API version does not break the reading.
//!
//! [`Stripe`] is the adapter between this and the port of payments.
//!
//! Whatever speaks Stripe's form at another address (`[stripe] api_base`) is served by the same code.

mod arriving;
pub mod charges;
pub mod checkout_sessions;
pub mod client;
pub mod connect;
pub mod disputes;
pub mod error;
mod events;
mod form;
pub mod id;
pub mod invoice_payments;
pub mod invoices;
pub mod key;
mod locale;
pub mod metadata;
pub mod object;
pub mod payment_intents;
pub mod permissions;
pub mod prices;
mod promotion_codes;
mod provider;
mod quota;
mod refunds;
mod retry;
pub mod signature;
pub mod subscriptions;
pub mod webhook_endpoints;

pub use client::{API_VERSION, Api, Client};
pub use error::{Error, Refusal};
pub use form::Form;
pub use key::SecretKey;
pub use provider::{Shared, Stripe};

#[cfg(test)]
mod tests;
