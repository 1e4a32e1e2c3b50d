//! All routes of the API on one screen. Each path is written at its handler, from which the
//! documentation is generated; this is the list.

use utoipa::openapi::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    batch, cancel, checkout, create, credit, debt_limit, deduct, draw, events, feature, forgive,
    freeze, hold, ledger, me, order, portal, products, read, recover, refund, resume,
    reverse_deduction, rotate, session, settle, stream, usage,
};
use crate::api::App;

/// The API's routes and their description.
pub(crate) fn routes() -> (axum::Router<App>, OpenApi) {
    OpenApiRouter::new()
        // Catalog and identity
        .routes(routes!(products::products))
        .routes(routes!(me::me))
        // Code wallets
        .routes(routes!(create::create_wallet))
        .routes(routes!(read::read_wallet))
        .routes(routes!(ledger::read_ledger))
        .routes(routes!(deduct::deduct))
        .routes(routes!(hold::place_hold))
        .routes(routes!(rotate::rotate_code))
        .routes(routes!(stream::stream_wallet))
        // External wallets
        .routes(routes!(
            create::open_external_wallet,
            read::read_external_wallet
        ))
        .routes(routes!(ledger::read_external_ledger))
        .routes(routes!(deduct::deduct_external))
        .routes(routes!(hold::place_external_hold))
        .routes(routes!(debt_limit::set_debt_limit))
        .routes(routes!(forgive::forgive_debt))
        .routes(routes!(stream::stream_external_wallet))
        // Sessions
        .routes(routes!(session::start_session))
        .routes(routes!(session::revoke_sessions))
        // Either
        .routes(routes!(credit::credit))
        .routes(routes!(feature::set_feature))
        .routes(routes!(batch::deduct_batch))
        .routes(routes!(freeze::freeze_wallet))
        .routes(routes!(reverse_deduction::reverse_deduction))
        // Purchases
        .routes(routes!(checkout::checkout))
        .routes(routes!(order::list_orders))
        .routes(routes!(order::read_order))
        .routes(routes!(refund::refund_order))
        .routes(routes!(cancel::cancel_subscription))
        .routes(routes!(resume::resume_subscription))
        .routes(routes!(portal::open_portal))
        .routes(routes!(portal::open_external_portal))
        .routes(routes!(recover::recover))
        // What happened
        .routes(routes!(events::list_events))
        .routes(routes!(usage::read_usage))
        // Holds
        .routes(routes!(hold::read_hold))
        .routes(routes!(draw::draw_hold))
        .routes(routes!(settle::settle_hold))
        .routes(routes!(hold::release_hold))
        .routes(routes!(hold::extend_hold))
        .split_for_parts()
}
