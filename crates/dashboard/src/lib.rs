//! The dashboard at `/dashboard`, for the operator: rendered on the server, one file a page. A handler's signature has
//! its permission: [`page_request::PageRequest`] is a request of somebody signed in, [`form_post::FormPost`] a form. Without
//! scripts everything works except charts and live figures.
//!
//! It contains no business rules and keeps no state.

mod account;
mod actions;
mod approvals;
mod assets;
mod attention;
mod audit;
mod audit_names;
mod catalog;
mod comments;
mod cookies;
mod deduction;
mod delivery;
mod elsewhere;
mod fields;
mod form;
mod form_post;
mod invitation;
mod keys;
mod layout;
mod ledger;
mod limit_fields;
mod limits;
mod mail_template;
mod mails;
mod next_page;
mod oidc_sign_in;
mod order;
mod orders;
mod overview;
mod page_request;
mod people_page;
mod period;
mod prelude;
mod prices;
mod projects;
mod rate_calculator;
mod rate_cards;
mod rate_versions;
mod rated_entries;
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
mod top_ups;
mod unfulfilled;
mod verbatim;
mod wallet;
mod wallets;
mod webhook_change;
mod webhook_health;
mod webhooks;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{MethodRouter, any, get, post},
};
use edge::audit::audit_pages;
use outbound::invitation_mail::INVITATION;
use wire::fallback::{method_not_allowed, route_not_found};

pub use audit::{AuditPage, newest as newest_changes};
pub use cookies::Site;
pub use elsewhere::{authority_here, signed_in};
pub use oidc_sign_in::OIDC_CALLBACK;
pub use page_request::SIGN_IN;
pub use projects::{ProjectLine, project_lines};
use state::App;
pub use state::DashboardState;

/// All routes of the dashboard, to be merged into the service's own.
pub fn router(app: &Arc<DashboardState>) -> Router<Arc<DashboardState>> {
    Router::new()
        .merge(people_routes())
        .merge(server_routes())
        .merge(project_routes())
        .merge(rate_card_routes())
        .merge(wallet_routes())
        .merge(order_routes())
        .merge(payment_routes())
        .merge(top_up_routes())
        .merge(webhook_routes())
        .merge(mail_routes())
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

const PROJECT: &str = "/dashboard/projects/{project}";

/// The routes of a part of a project, below its path.
fn below<const N: usize>(path: &str, routes: [(&str, MethodRouter<App>); N]) -> Router<App> {
    let routes = routes.into_iter();
    routes.fold(Router::new(), |router, (rest, methods)| {
        router.route(&format!("{PROJECT}{path}{rest}"), methods)
    })
}

fn people_routes() -> Router<App> {
    Router::new()
        .route(SIGN_IN, get(sign_in::show).post(sign_in::enter))
        .route(oidc_sign_in::BEGIN, get(oidc_sign_in::begin))
        .route(OIDC_CALLBACK, get(oidc_sign_in::finish))
        .route("/dashboard/sign-out", post(sign_in::leave))
        .route(INVITATION, get(invitation::show).post(invitation::accept))
        .route("/dashboard/account", get(account::show).post(account::end))
        .route(
            "/dashboard/people",
            get(people_page::list).post(people_page::invite),
        )
        .route(
            "/dashboard/people/{user}",
            get(people_page::show).post(people_page::save),
        )
        .route("/dashboard/people/{user}/identity", post(people_page::bind))
        .route("/dashboard/people/{user}/{action}", post(people_page::act))
}

fn server_routes() -> Router<App> {
    Router::new()
        .route("/dashboard", get(projects::list).post(projects::create))
        .route("/dashboard/audit", get(audit::list))
        .route("/dashboard/audit/export", get(audit::export))
        .route("/dashboard/live", get(overview::live_part))
        .route("/dashboard/system", get(system::show).post(system::back_up))
        .route(
            time_zone::PATH,
            get(time_zone_page::show).post(time_zone_page::save),
        )
}

fn project_routes() -> Router<App> {
    below(
        "",
        [
            ("", get(overview::show)),
            ("/outstanding", post(overview::count)),
            ("/approvals", get(approvals::list)),
            ("/approvals/{approval}/{answer}", post(approvals::answer)),
            ("/settings", get(settings::show).post(settings::save)),
            ("/settings/archive", post(settings::archive)),
            ("/settings/provider", post(settings::set_provider)),
            ("/sandbox", get(sandbox::show).post(sandbox::save)),
            ("/keys", get(keys::list).post(keys::create)),
            ("/keys/{key}", get(keys::edit).post(keys::update)),
            ("/keys/{key}/revoke", post(keys::revoke)),
            ("/catalog", get(catalog::list).post(catalog::create)),
            ("/catalog/new", get(catalog::draft)),
            ("/catalog/{product}", get(catalog::show).post(catalog::save)),
            (
                "/catalog/{product}/prices",
                get(prices::draft).post(prices::create),
            ),
            ("/catalog/{product}/prices/{price}", post(prices::save)),
            ("/search", get(search::show).post(search::find)),
            ("/wallets", get(wallets::list)),
            ("/refused", get(limits::reached)),
            ("/wallets.csv", get(wallets::export)),
            ("/orders.csv", get(orders::export)),
        ],
    )
}

fn rate_card_routes() -> Router<App> {
    below(
        "/rate-cards",
        [
            ("", get(rate_cards::list)),
            ("/{card}", get(rate_cards::show)),
            ("/{card}/versions", get(rate_versions::list)),
            ("/{card}/close", post(rate_cards::close)),
        ],
    )
}

fn wallet_routes() -> Router<App> {
    below(
        "/wallets/{wallet}",
        [
            ("", get(wallet::show)),
            ("/orders", get(orders::list_of_wallet)),
            ("/ledger.csv", get(ledger::export)),
            ("/spending", get(spending::show)),
            ("/limits", get(limits::edit).post(limits::save)),
            ("/subscription", post(subscriptions::change)),
            ("/notes", post(comments::add)),
            ("/notes/delete", post(comments::delete)),
            ("/grant", post(actions::grant)),
            ("/deduct", post(actions::deduct)),
            ("/feature", post(actions::feature)),
            ("/release", post(actions::release)),
            ("/freeze", post(wallet::freeze)),
            ("/erase", post(wallet::erase)),
            ("/replace-code", post(replace_code::replace)),
            (
                "/deductions/{deduction}",
                get(deduction::show).post(deduction::reverse),
            ),
        ],
    )
}

fn order_routes() -> Router<App> {
    below(
        "/orders",
        [
            ("", get(orders::list)),
            ("/{order}", get(order::show)),
            ("/{order}/refresh", post(order::refresh)),
            ("/{order}/refund", post(order::refund)),
        ],
    )
}

fn top_up_routes() -> Router<App> {
    below("/top-ups", [("", get(top_ups::list))])
}

fn payment_routes() -> Router<App> {
    below(
        "/unfulfilled-payments",
        [
            ("", get(unfulfilled::list)),
            ("/reconcile", post(unfulfilled::reconcile)),
            ("/{payment}", get(unfulfilled::show)),
            ("/{payment}/assign", post(unfulfilled::assign)),
            ("/{payment}/refund", post(unfulfilled::refund)),
            ("/{payment}/dismiss", post(unfulfilled::dismiss)),
        ],
    )
}

fn mail_routes() -> Router<App> {
    below(
        "/mails",
        [
            ("", get(mails::show).post(mails::save)),
            ("/resume", post(mails::resume)),
            (
                "/{kind}/{locale}",
                get(mail_template::show).post(mail_template::save),
            ),
            ("/{kind}/{locale}/preview", get(mail_template::preview)),
            ("/{kind}/{locale}/test", post(mail_template::send_test)),
        ],
    )
}

fn webhook_routes() -> Router<App> {
    below(
        "/webhooks",
        [
            ("", get(webhooks::list).post(webhooks::create)),
            (
                "/{webhook}",
                get(webhooks::show).post(webhook_change::change),
            ),
            ("/{webhook}/test", post(webhook_change::send_test)),
            ("/{webhook}/replay", post(webhooks::replay)),
            ("/{webhook}/deliveries/{delivery}", get(delivery::show)),
        ],
    )
}
