//! PostgreSQL for tests: real servers that end with the test, their standbys, and a proxy that breaks connections.
//! Loopback only. All of it blocks and needs no runtime, so that any test can use it; nothing here is Scrip's, so that
//! any crate can.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must panic, and say why"
)]

mod installation;
pub mod postgres;
pub mod proxy;
mod supervisor;
pub mod wait;

pub use self::{
    postgres::{Options, Postgres, free_port, shared},
    proxy::Proxy,
};
