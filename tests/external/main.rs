//! Tests with external tools: Stripe's own library speaks to the sandbox, its types check the forms that the
//! client sends, a real browser buys in the demo shop, and the libraries of Standard Webhooks verify
//! deliveries. Their packages are in `tests/external`; `scripts/test` installs them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on must panic, and say why"
)]

mod dashboard;
mod docs;
mod forms;
mod https;
mod node;
mod oidc;
mod redocly;
mod sandbox;
mod webhooks;
