//! The administrator's interface: projects and their payment providers, keys, products, prices, webhooks, and a
//! look at wallets and orders, under `/api/admin/v1`, with its own OpenAPI document. All routes on this screen, one
//! file for each kind of document.
//!
//! It knows no rule of its own: the catalog decides.

pub mod adoptions;
mod audit;
pub mod backups;
mod call;
mod cluster;
mod dashboard_sessions;
mod deliveries;
pub mod description;
mod doubled_subscriptions;
mod erase;
mod freeze;
mod key_view;
mod keys;
mod limits;
mod mails;
mod operations;
mod orders;
mod path;
mod prices;
mod products;
mod project_list;
pub mod projects;
pub mod provider;
mod rate_cards;
pub mod reconciliation;
mod replace_code;
mod reverse_deduction;
mod sandbox;
mod search;
mod unfulfilled;
mod user_identity;
mod users;
mod view;
mod wallets;
mod webhook_view;
mod webhooks;

use std::sync::Arc;

use axum::{Json, Router, routing::get};
use operator::OperatorState;

pub(crate) use self::operations::operations;
use crate::http::operation;

/// What the handlers share.
pub type App = Arc<OperatorState>;

/// The path under which everything here is served.
pub const PREFIX: &str = edge::layer::ADMIN_PREFIX;

/// All routes, to be merged into the service's own.
pub fn router() -> Router<App> {
    let router = operation::router(PREFIX, operations());
    let document = description::document();
    router.route(
        &format!("{PREFIX}/openapi.json"),
        get(move || std::future::ready(Json(document.clone()))),
    )
}
