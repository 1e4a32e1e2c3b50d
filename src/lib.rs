//! Scrip: a credit-wallet service in one binary. This crate is what stands around the wallets: the
//! HTTP interface, the catalog and its administration, the command line, the server itself.
//!
//! The rules are in `domain`, the wallets in `actors`, the books in `persistence`.

pub mod admin;
pub mod api;
pub mod app;
pub mod bench;
pub mod catalog;
pub mod cli;
pub mod compose;
pub mod config;
pub mod docs;
mod failpoint;
pub mod http;
pub mod limits;
pub mod metrics;
pub mod notes;
pub mod outbound;
pub mod pages;
pub mod payments;
mod private_file;
pub mod provider {
    //! Who takes the money: Stripe, and the sandbox that answers in its form.
    pub use ::sandbox;
    pub use ::stripe::{self, event, signature};
}
pub mod secrets;
pub mod server;
pub mod state;
mod vitals;
