//! Scrip: a credit-wallet service in one binary. This crate joins its rooms: it reads the configuration, opens the
//! store, hands each room the part of the service that it uses, and has the command line.

pub use ::{
    accounts as providers, catalog, identity, operations::audit, operations::audit_search,
    operations::data_dir::secrets, outbound, payments, scrip_http::connections as server,
    scrip_http::limits,
};

pub mod app;
pub mod cli;
pub mod compose;
pub mod config;
pub mod state;
