//! The dashboard as a browser meets it: the whole service in this process, over real HTTP, on a journal in
//! memory and a clock that only the test moves. Scripts and a real browser are tested in `tests/external`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must panic, and say why"
)]

mod address_bar;
mod approvals;
mod approved_changes;
mod at_once;
mod audit;
mod audit_outcomes;
mod catalog;
mod erase;
mod first_hour;
mod forms;
mod identity_provider;
mod limits;
mod mails;
mod oidc;
mod operator_actions;
mod order_refresh;
mod orders;
mod people;
mod projects;
mod rate_cards;
mod refunds_in_parts;
mod search;
mod sessions;
mod sign_in;
mod system;
mod top_ups;
mod unfulfilled;
mod wallet_actions;
mod wallets;
mod webhooks;

use kit::browser;
