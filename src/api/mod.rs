//! The HTTP interface under `/api/v1`: one endpoint a file, named by its command; all routes in
//! `router.rs`; who may call a handler is in its signature. It speaks to wallets through
//! [`actors::Handle`] and knows nothing of how they are kept.

mod checkout;
mod credit;
pub(crate) mod deduct;
pub(crate) mod deductions_batch;
pub mod description;
mod events;
mod features;
mod holds_create;
mod holds_extend;
mod holds_read;
mod holds_release;
mod holds_settle;
mod me;
mod orders_list;
mod orders_read;
mod orders_refund;
mod portal;
mod products;
pub mod router;
mod subscriptions_cancel;
mod subscriptions_resume;
mod usage;
mod wallets_create;
mod wallets_ledger;
mod wallets_open_external;
mod wallets_read;
mod wallets_recover;
mod wallets_rotate;
pub(crate) mod webhooks;
