//! The dashboard at `/dashboard`, for the operator: rendered on the server, one file a page. A handler's signature has
//! its permission: [`page_request::PageRequest`] is a request of somebody signed in, [`page_request::FormPost`] a form. Without scripts everything works except charts and live figures.
//!
//! It contains no business rules and keeps no state.

mod account;
mod actions;
mod approval_request;
mod approvals;
mod archive;
mod assets;
mod assignment;
mod attention;
mod audit;
mod audit_names;
mod catalog;
mod changes;
mod cluster;
mod comments;
mod confirm;
mod cookies;
mod deduction;
mod delivery;
mod elsewhere;
mod erase;
mod fields;
mod form;
mod freeze;
mod invitation;
mod keys;
mod layout;
mod ledger;
mod next_page;
mod oidc_sign_in;
mod order;
mod order_refresh;
mod orders;
mod overview;
mod page_request;
mod people_identity;
mod people_page;
mod period;
mod prices;
mod projects;
mod replace_code;
mod revenue;
mod sandbox;
mod search;
mod settings;
mod sign_in;
mod spending;
mod state;
mod subscriptions;
mod system;
mod time_zone;
mod time_zone_page;
mod unfulfilled;
mod verbatim;
mod wallet;
mod wallets;
mod webhook_change;
mod webhook_health;
mod webhook_test;
mod webhooks;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{any, get, post},
};
use domain::money;
use edge::audit::audit_pages;
use outbound::invitation_mail::INVITATION;
use wire::fallback::{method_not_allowed, route_not_found};

pub use audit::{AuditPage, newest as newest_changes};
pub use cookies::Site;
pub use elsewhere::{authority_here, signed_in};
pub use oidc_sign_in::OIDC_CALLBACK;
pub use page_request::SIGN_IN;
pub use projects::{ProjectLine, project_lines};
pub use state::DashboardState;

/// All routes of the dashboard, to be merged into the service's own.
pub fn router(app: &Arc<DashboardState>) -> Router<Arc<DashboardState>> {
    const PROJECT: &str = "/dashboard/projects/{project}";
    let of_project = |path: &str| format!("{PROJECT}{path}");
    let of_order = |path: &str| format!("{PROJECT}/orders/{{order}}{path}");
    let of_wallet = |path: &str| format!("{PROJECT}/wallets/{{wallet}}{path}");
    let of_payment = |path: &str| format!("{PROJECT}/unfulfilled-payments/{{payment}}{path}");
    Router::new()
        .route(SIGN_IN, get(sign_in::show).post(sign_in::enter))
        .route(oidc_sign_in::BEGIN, get(oidc_sign_in::begin))
        .route(OIDC_CALLBACK, get(oidc_sign_in::finish))
        .route(INVITATION, get(invitation::show).post(invitation::accept))
        .route(
            "/dashboard/people",
            get(people_page::list).post(people_page::invite),
        )
        .route(
            "/dashboard/people/{user}",
            get(people_page::show).post(people_page::save),
        )
        .route(
            "/dashboard/people/{user}/identity",
            post(people_identity::save),
        )
        .route("/dashboard/people/{user}/{action}", post(people_page::act))
        .route("/dashboard/account", get(account::show).post(account::end))
        .route("/dashboard/sign-out", post(sign_in::leave))
        .route("/dashboard", get(projects::list).post(projects::create))
        .route("/dashboard/audit", get(audit::list))
        .route("/dashboard/audit/export", get(audit::export))
        .route("/dashboard/live", get(overview::live_part))
        .route("/dashboard/system", get(system::show).post(system::back_up))
        .route(
            time_zone::PATH,
            get(time_zone_page::show).post(time_zone_page::save),
        )
        .route(PROJECT, get(overview::show))
        .route(&of_project("/approvals"), get(approvals::list))
        .route(
            &of_project("/approvals/{approval}/{answer}"),
            post(approvals::answer),
        )
        .route(&of_project("/outstanding"), post(overview::count))
        .route(
            &of_project("/settings"),
            get(settings::show).post(settings::save),
        )
        .route(&of_project("/settings/archive"), post(archive::change))
        .route(
            &of_project("/settings/provider"),
            post(settings::set_provider),
        )
        .route(
            &of_project("/sandbox"),
            get(sandbox::show).post(sandbox::save),
        )
        .route(&of_project("/keys"), get(keys::list).post(keys::create))
        .route(
            &of_project("/keys/{key}"),
            get(keys::edit).post(keys::update),
        )
        .route(&of_project("/keys/{key}/revoke"), post(keys::revoke))
        .route(
            &of_project("/catalog"),
            get(catalog::list).post(catalog::create),
        )
        .route(&of_project("/catalog/new"), get(catalog::draft))
        .route(
            &of_project("/catalog/{product}"),
            get(catalog::show).post(catalog::save),
        )
        .route(
            &of_project("/catalog/{product}/prices"),
            get(prices::draft).post(prices::create),
        )
        .route(
            &of_project("/catalog/{product}/prices/{price}"),
            post(prices::save),
        )
        .route(&of_project("/search"), get(search::show).post(search::find))
        .route(&of_project("/wallets"), get(wallets::list))
        .route(&of_project("/wallets.csv"), get(wallets::export))
        .route(&of_project("/orders.csv"), get(orders::export))
        .route(&of_wallet(""), get(wallet::show))
        .route(&of_wallet("/orders"), get(orders::list_of_wallet))
        .route(&of_wallet("/ledger.csv"), get(ledger::export))
        .route(&of_wallet("/spending"), get(spending::show))
        .route(&of_wallet("/subscription"), post(subscriptions::change))
        .route(&of_wallet("/notes"), post(comments::add))
        .route(&of_wallet("/notes/delete"), post(comments::delete))
        .route(&of_wallet("/grant"), post(actions::grant))
        .route(&of_wallet("/deduct"), post(actions::deduct))
        .route(&of_wallet("/feature"), post(actions::feature))
        .route(&of_wallet("/release"), post(actions::release))
        .route(&of_wallet("/freeze"), post(freeze::change))
        .route(&of_wallet("/erase"), post(erase::erase))
        .route(&of_wallet("/replace-code"), post(replace_code::replace))
        .route(
            &of_wallet("/deductions/{deduction}"),
            get(deduction::show).post(deduction::reverse),
        )
        .route(&of_project("/orders"), get(orders::list))
        .route(&of_order(""), get(order::show))
        .route(&of_order("/refresh"), post(order_refresh::refresh))
        .route(&of_order("/refund"), post(order::refund))
        .route(&of_project("/unfulfilled-payments"), get(unfulfilled::list))
        .route(
            &of_project("/unfulfilled-payments/reconcile"),
            post(unfulfilled::reconcile),
        )
        .route(&of_payment(""), get(unfulfilled::show))
        .route(&of_payment("/assign"), post(assignment::assign))
        .route(&of_payment("/refund"), post(unfulfilled::refund))
        .route(&of_payment("/dismiss"), post(unfulfilled::dismiss))
        .route(
            &of_project("/webhooks"),
            get(webhooks::list).post(webhooks::create),
        )
        .route(
            &of_project("/webhooks/{webhook}"),
            get(webhooks::show).post(webhook_change::change),
        )
        .route(
            &of_project("/webhooks/{webhook}/test"),
            post(webhook_test::send),
        )
        .route(
            &of_project("/webhooks/{webhook}/deliveries/{delivery}"),
            get(delivery::show),
        )
        .route(
            &of_project("/webhooks/{webhook}/replay"),
            post(webhooks::replay),
        )
        .route("/dashboard/", any(route_not_found))
        .route("/dashboard/{*rest}", any(route_not_found))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app.edge),
            audit_pages,
        ))
        .merge(assets::router())
        .layer(middleware::from_fn(layout::present))
        .layer(middleware::from_fn(time_zone::choose))
}
