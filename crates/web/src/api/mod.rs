//! The HTTP interface under `/api/v1`: one command a file, named as in the other layers; all routes in
//! `operations.rs`; who may call a handler is in its signature. It speaks to wallets through
//! [`actors::Handle`] and knows nothing of how they are kept.

mod batch;
mod batches;
mod checkout;
mod create;
mod credit;
mod debt_limit;
mod deduct;
pub mod description;
mod draw;
mod event_schemas;
mod events;
mod fast_path;
mod feature;
mod forgive;
mod freeze;
mod hold;
mod ledger;
mod limits;
mod me;
mod operations;
mod order;
mod portal;
mod products;
mod rate_cards;
mod read;
mod recover;
mod refund;
mod reverse_deduction;
mod rotate;
mod session;
mod settle;
mod state;
mod stream;
mod subscriptions;
mod top_up;
mod usage;
mod webhooks;

use axum::{
    Router,
    routing::{any, post},
};
use wire::fallback::route_not_found;

pub use fast_path::FastPath;
pub(crate) use operations::operations;
pub use state::{ApiState, App};

use crate::http::operation;

/// Where the API is served.
pub(crate) const PREFIX: &str = "/api/v1";

/// All routes of the API, those of it that do not exist included.
pub fn router() -> Router<App> {
    operation::router(PREFIX, operations())
        .route("/api/v1", any(route_not_found))
        .route("/api/v1/", any(route_not_found))
        .route("/api/v1/{*rest}", any(route_not_found))
}

/// The route that payment providers' webhooks come in by.
pub fn webhook_router() -> Router<App> {
    Router::new().route("/webhooks/stripe/{projectId}", post(webhooks::stripe))
}
