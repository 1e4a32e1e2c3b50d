//! Scrip: a credit-wallet service in one binary. This crate is what stands around the wallets: the
//! HTTP interface, the catalog and its administration, the command line, the server itself.
//!
//! The rules are in `domain`, the wallets in `actors`, the books in `persistence`.

pub use ::{
    accounts as providers, catalog, connections as server, data_dir::secrets, limits,
    operations::audit, outbound, payments,
};

pub mod app;
pub mod cli;
pub mod compose;
pub mod config;
pub mod state;
