//! All routes of the API on one screen. Each path is written at its handler, from which the
//! documentation is generated; this is the list.

use utoipa::openapi::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    checkout, credit, deduct, deductions_batch, events, features, holds_create, holds_extend,
    holds_read, holds_release, holds_settle, me, orders_list, orders_read, orders_refund, portal,
    products, subscriptions_cancel, subscriptions_resume, usage, wallets_create, wallets_ledger,
    wallets_open_external, wallets_read, wallets_recover, wallets_rotate,
};
use crate::state::App;

/// The API's routes and their description.
pub(crate) fn routes() -> (axum::Router<App>, OpenApi) {
    OpenApiRouter::new()
        // Catalog and identity
        .routes(routes!(products::products))
        .routes(routes!(me::me))
        // Code wallets
        .routes(routes!(wallets_create::create_wallet))
        .routes(routes!(wallets_read::read_wallet))
        .routes(routes!(wallets_ledger::read_ledger))
        .routes(routes!(deduct::deduct))
        .routes(routes!(holds_create::place_hold))
        .routes(routes!(wallets_rotate::rotate_code))
        // External wallets
        .routes(routes!(
            wallets_open_external::open_external_wallet,
            wallets_read::read_external_wallet
        ))
        .routes(routes!(wallets_ledger::read_external_ledger))
        .routes(routes!(deduct::deduct_external))
        .routes(routes!(holds_create::place_external_hold))
        // Either
        .routes(routes!(credit::credit))
        .routes(routes!(features::set_feature))
        .routes(routes!(deductions_batch::deduct_batch))
        // Purchases
        .routes(routes!(checkout::checkout))
        .routes(routes!(orders_list::list_orders))
        .routes(routes!(orders_read::read_order))
        .routes(routes!(orders_refund::refund_order))
        .routes(routes!(subscriptions_cancel::cancel_subscription))
        .routes(routes!(subscriptions_resume::resume_subscription))
        .routes(routes!(portal::open_portal))
        .routes(routes!(portal::open_external_portal))
        .routes(routes!(wallets_recover::recover))
        // What happened
        .routes(routes!(events::list_events))
        .routes(routes!(usage::read_usage))
        // Holds
        .routes(routes!(holds_read::read_hold))
        .routes(routes!(holds_settle::settle_hold))
        .routes(routes!(holds_release::release_hold))
        .routes(routes!(holds_extend::extend_hold))
        .split_for_parts()
}
