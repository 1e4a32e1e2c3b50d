//! The harness of the integration tests: the real binary on a directory of its own, reached over
//! HTTP on loopback only. A test target takes it in with
//! `#[path = "../support/mod.rs"] mod support;`.
//!
//! It never looks inside the product: what it cannot learn from the command line, the HTTP
//! interface or the exit status, no test can depend on. It ends only processes it started, by id.
#![allow(dead_code, reason = "each test target uses a part of the harness")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on must panic, and say why"
)]

pub(crate) mod background;
pub(crate) mod client;
pub(crate) mod deadline;
pub(crate) mod instance;
pub(crate) mod launch;
pub(crate) mod ledger;
pub(crate) mod process;
pub(crate) mod project;
pub(crate) mod server;
pub(crate) mod smtp;
pub(crate) mod stripe;
pub(crate) mod tool;

// Each target names what it needs through these or through the modules.
#[allow(unused_imports, reason = "each test target uses a part of the harness")]
pub(crate) use self::{
    background::Background,
    client::{Client, Reply},
    instance::Instance,
    launch::Launch,
    project::Project,
    server::Server,
};
