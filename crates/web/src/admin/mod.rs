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
mod operations;
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
use wire::{Error, ErrorCode};

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
