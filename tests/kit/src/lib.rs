//! Test support, and the only place that starts things for tests: the service in this process ([`service`]) or
//! as a process ([`Server`]), its clients, and doubles of its counterparts ([`stripe`], [`smtp`],
//! [`receiver`]). Loopback only; it ends only processes that it started, by id.
//!
//! A test of the running service sees what its callers see: HTTP, the command line, the exit status.
//! Tests of one crate's own parts start those parts themselves.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must panic, and say why"
)]

pub mod background;
pub mod browser;
pub mod client;
pub mod dashboard_routes;
pub mod deadline;
pub mod demo;
pub mod events;
pub mod instance;
pub mod launch;
pub mod ledger;
pub mod process;
pub mod project;
pub mod receiver;
pub mod server;
#[cfg(feature = "service")]
pub mod service;
pub mod smtp;
pub mod stripe;
pub mod tool;

pub use self::{
    background::Background,
    client::{Client, Reply},
    demo::Demo,
    instance::Instance,
    launch::Launch,
    project::Project,
    server::Server,
};
