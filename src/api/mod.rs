//! The HTTP interface under `/api/v1`: one command a file, named as in the other layers; all routes in
//! `router.rs`; who may call a handler is in its signature. It speaks to wallets through
//! [`actors::Handle`] and knows nothing of how they are kept.

pub(crate) mod batch;
mod cancel;
mod checkout;
mod create;
mod credit;
pub(crate) mod deduct;
pub mod description;
mod events;
mod feature;
mod hold;
mod ledger;
mod me;
mod order;
mod portal;
mod products;
mod read;
mod recover;
mod refund;
mod resume;
mod rotate;
pub mod router;
mod usage;
pub(crate) mod webhooks;
