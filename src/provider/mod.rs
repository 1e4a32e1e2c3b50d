//! Who takes the money: Stripe, or whatever answers in its form. A typed client for the few calls
//! that are needed, and the reading of its webhooks: signature first, then the event. And something
//! that answers in its form, for trying all this without money: the sandbox.
//!
//! Knows nothing of orders and wallets: what an answer or an event means for them is decided
//! elsewhere. Never logs, and never puts a secret into an error.

mod connect;
pub mod event;
pub mod sandbox;
pub mod signature;
pub mod stripe;
