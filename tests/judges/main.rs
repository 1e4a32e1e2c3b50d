//! Judges from outside: Stripe's own library speaks to the sandbox, its types check the forms that
//! the client sends, a real browser buys in the demo shop, and the libraries of Standard Webhooks verify
//! what is sent. They live in `tests/judges` with their
//! own packages; `scripts/test` installs them.
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
mod node;
mod redocly;
mod sandbox;
mod webhooks;
