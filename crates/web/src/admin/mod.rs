//! The administrator's interface: projects and their payment providers, keys, products, prices, webhooks, and a
//! look at wallets and orders, under `/api/admin/v1`, with its own OpenAPI document. All routes on this screen, one
//! file for each kind of document.
//!
//! It knows no rule of its own: the catalog decides.

pub mod adoptions;
mod audit;
pub mod backups;
mod cluster;
mod dashboard_sessions;
mod deliveries;
pub mod description;
mod doubled_subscriptions;
mod erase;
mod freeze;
mod key_view;
mod keys;
mod orders;
mod path;
mod prices;
mod products;
mod project_list;
pub mod projects;
pub mod provider;
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
use catalog::ProjectCatalog;
use edge::Authorized;
use operator::{Action, Operator, OperatorState, Performed};
use utoipa_axum::{router::OpenApiRouter, routes};
use wire::{Error, ErrorCode};

/// What the handlers share.
pub type App = Arc<OperatorState>;

/// The path under which everything here is served.
pub const PREFIX: &str = edge::layer::ADMIN_PREFIX;

/// All routes, to be merged into the service's own.
pub fn router() -> Router<App> {
    let (router, _) = routes().split_for_parts();
    let document = description::document();
    router.route(
        &format!("{PREFIX}/openapi.json"),
        get(move || std::future::ready(Json(document.clone()))),
    )
}

/// Does what a caller asked for, in a project.
async fn run<A: Action>(
    caller: &Authorized<A>,
    app: &App,
    project: Arc<ProjectCatalog>,
    action: A,
) -> Result<A::Answer, Error> {
    let operator = Operator::new(app, project, &caller.authority, caller.entry());
    match operator.run(action).await? {
        Performed::Done(answer) | Performed::Before(answer) => Ok(answer),
        Performed::Pending => {
            let error = Error::new(ErrorCode::RoleForbidden);
            Err(error.saying("This requires approval by a second person: it was requested."))
        }
    }
}

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().nest(
        PREFIX,
        OpenApiRouter::new()
            .routes(routes!(projects::create, project_list::list))
            .routes(routes!(projects::show, projects::update))
            .routes(routes!(provider::check))
            .routes(routes!(adoptions::list, adoptions::adopt))
            .routes(routes!(sandbox::show, sandbox::update))
            .routes(routes!(sandbox::advance))
            .routes(routes!(keys::create, keys::list))
            .routes(routes!(keys::show, keys::update, keys::revoke))
            .routes(routes!(products::create, products::list))
            .routes(routes!(products::show, products::update))
            .routes(routes!(prices::create, prices::list))
            .routes(routes!(prices::show, prices::update))
            .routes(routes!(backups::create, backups::show))
            .routes(routes!(cluster::hand_over))
            .routes(routes!(cluster::split))
            .routes(routes!(webhooks::create, webhooks::list))
            .routes(routes!(webhooks::show, webhooks::update, webhooks::delete))
            .routes(routes!(webhooks::rotate_secret))
            .routes(routes!(webhooks::test))
            .routes(routes!(deliveries::list))
            .routes(routes!(deliveries::replay))
            .routes(routes!(deliveries::replay_since))
            .routes(routes!(search::search))
            .routes(routes!(wallets::list, wallets::open))
            .routes(routes!(wallets::show))
            .routes(routes!(wallets::read_ledger))
            .routes(routes!(wallets::credit))
            .routes(routes!(freeze::freeze))
            .routes(routes!(erase::erase))
            .routes(routes!(replace_code::replace_code))
            .routes(routes!(reverse_deduction::reverse_deduction))
            .routes(routes!(orders::list))
            .routes(routes!(orders::show))
            .routes(routes!(doubled_subscriptions::list))
            .routes(routes!(unfulfilled::list))
            .routes(routes!(unfulfilled::assign))
            .routes(routes!(unfulfilled::refund))
            .routes(routes!(unfulfilled::dismiss))
            .routes(routes!(audit::list))
            .routes(routes!(users::create, users::list))
            .routes(routes!(users::show, users::update, users::delete))
            .routes(routes!(users::invite_again))
            .routes(routes!(dashboard_sessions::list))
            .routes(routes!(dashboard_sessions::end))
            .routes(routes!(dashboard_sessions::end_all))
            .routes(routes!(reconciliation::create, reconciliation::show)),
    )
}
