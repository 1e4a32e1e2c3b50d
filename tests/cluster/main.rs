//! Several processes over one log in PostgreSQL, and what can happen to them: each test drives the real binary over
//! HTTP, breaks a process, the database or the network under load, and compares the outcome with what its clients were answered.
//! Figures are printed (`--nocapture`). `scripts/test-cluster` runs the long forms.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test that cannot go on must panic, and its numbers are small"
)]

mod cells;
mod checker;
mod client_sim;
mod codes;
mod crowds;
mod database;
mod members;
mod misplaced;
mod network;
mod people;
mod processes;
mod restarts;
mod top_ups;
mod webhooks;
