//! The HTTP API as its callers meet it: the whole service in this process, over real HTTP, on a journal in
//! memory and a clock that only the test moves. Each route has the file that `crates/web/src/api/` has, with its responses
//! and every refusal; other files are about what all routes share. What goes on beyond a request is in `provider/`,
//! `sandbox/` and `deliveries/`, the webhooks to a project's own servers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must panic, and say why"
)]

mod at_once;
mod batches;
mod body;
mod checkout;
mod checkout_limits;
mod checkout_refusals;
mod checkout_repeats;
mod checkout_settings;
mod checkout_unlocks;
mod compatible;
mod cors;
mod credit;
mod crowded_wallets;
mod customer_mails;
mod deduct;
mod deduct_external;
mod deductions_batch;
mod deductions_reverse;
mod deliveries;
mod description;
mod docs;
mod edge;
mod events;
mod fast_path;
mod features;
mod health;
mod holds_create;
mod holds_draw;
mod holds_extend;
mod holds_read;
mod holds_release;
mod holds_settle;
mod keys;
mod limits;
mod me;
mod orders_list;
mod orders_read;
mod orders_refund;
mod portal;
mod products;
mod provider;
mod query_parameters;
mod rate_cards;
mod restricted_keys;
mod rust_client;
mod sandbox;
mod sandbox_shop;
mod sessions_create;
mod sessions_orders;
mod sessions_revoke;
mod sessions_scope;
mod stripe_shop;
mod subscriptions_cancel;
mod subscriptions_doubled;
mod subscriptions_resume;
mod top_ups;
mod unavailable;
mod usage;
mod wallets_by_header;
mod wallets_create;
mod wallets_debt_limit;
mod wallets_debts;
mod wallets_forgive;
mod wallets_freeze;
mod wallets_ledger;
mod wallets_limits;
mod wallets_open_external;
mod wallets_read;
mod wallets_recover;
mod wallets_rotate;
mod wallets_stream;
mod wallets_stream_time;

use kit::{client, events as stream, service, stripe};
