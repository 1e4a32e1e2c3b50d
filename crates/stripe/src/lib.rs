//! A client for the part of Stripe's API that Scrip uses: one file per resource, with the form sent and the response
//! fields read. Unknown fields and enum values are ignored, so that a newer API version does not break parsing. Amounts
//! are in the minor unit, instants in seconds since the Unix epoch, currencies ISO 4217 codes in lower case.
//!
//! [`Stripe`] adapts it to the payments port.
//!
//! The same code calls any other server with Stripe's API, for example the sandbox (`[stripe] api_base`).

#![expect(
    missing_docs,
    reason = "many fields are those of Stripe's API and documented there"
)]

mod arriving;
pub mod charges;
pub mod checkout_sessions;
pub mod client;
pub mod declines;
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
pub mod payment_methods;
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
pub use error::{Error, ErrorResponse};
pub use form::Form;
pub use key::SecretKey;
pub use provider::{PriceCache, Stripe};

#[cfg(test)]
mod tests;
