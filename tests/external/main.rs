//! Tests with external tools: Stripe's own library speaks to the sandbox, its types check the forms that the
//! client sends, a real browser buys in the demo shop, the libraries of Standard Webhooks verify deliveries, and a
//! shell runs what the documentation and `scrip dev` print. Their packages are in `tests/external`; `scripts/setup` installs them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must panic, and say why"
)]

mod dashboard;
mod dev;
mod docs;
mod forms;
mod https;
mod mails;
mod node;
mod oidc;
mod pages;
mod redocly;
mod sandbox;
mod versions;
mod webhooks;
