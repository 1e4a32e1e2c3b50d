//! Scrip: a credit-wallet service in one binary. This crate is what stands around the wallets: the
//! HTTP interface, the catalog and its administration, the command line, the server itself.
//!
//! The rules are in `domain`, the wallets in `actors`, the books in `persistence`.

pub use ::{catalog, connections as server, limits, payments};

pub mod admin;
pub mod api;
pub mod app;
pub mod audit;
pub mod backups;
pub mod cli;
pub mod compose;
pub mod config;
pub mod dashboard;
mod data_dir;
pub mod docs;
mod health;
pub mod http;
pub mod metrics;
pub mod outbound;
pub mod pages;
mod private_file;
pub mod providers;
pub mod secrets;
pub mod state;
mod verified;
