//! The HTTP API as its callers meet it: the whole service in this process, over real HTTP, on a journal in
//! memory and a clock that only the test moves. One file per route, with its responses and every refusal; then
//! what all routes share.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on must panic, and say why"
)]

mod adoptions;
mod bills;
mod body;
mod checkout;
mod checkout_settings;
mod compatible;
mod cors;
mod counter;
mod credit;
mod crowded_wallets;
mod deduct;
mod deduct_external;
mod deductions_batch;
mod described;
mod docs;
mod edge;
mod endpoints;
mod events;
mod fair;
mod fast_path;
mod features;
mod feed;
mod feed_failures;
mod holds;
mod keys;
mod limits;
mod me;
mod orders;
mod orders_refund;
mod portal;
mod products;
mod provider_change;
mod reconciliation;
mod rehearsal;
mod rust_client;
mod sandbox;
mod sandbox_events;
mod sandbox_lives;
mod sandbox_reversals;
mod sandbox_switches;
mod shop;
mod subscriptions;
mod subscriptions_cancel;
mod subscriptions_resume;
mod unavailable;
mod unfulfilled;
mod unlocks;
mod usage;
mod vitals;
mod wallets_by_header;
mod wallets_create;
mod wallets_external;
mod wallets_ledger;
mod wallets_read;
mod wallets_recover;
mod wallets_rotate;
mod webhooks;
mod webhooks_out;
mod webhooks_out_disabled;
mod webhooks_out_endpoints;
mod webhooks_out_receivers;
mod webhooks_out_replay;
mod webhooks_out_unread;

use kit::{client, service, stripe};
