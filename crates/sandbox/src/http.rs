//! The sandbox's routes: Stripe's API for programs, and pages for people.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::DefaultBodyLimit,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Redirect, Response},
    routing::{any, get},
};
use domain::id::ProjectId;

use super::{Sandbox, Settings, core::prelude::*, pages, store::Failure, webhooks};

mod api;
mod auth;
mod checkout;
mod documents;
mod fault_profile;
mod fields;
mod portal;

use api::ApiKind;

const MAX_BODY_BYTES: usize = 64 * 1024;

/// A project and the id of what a page shows, as its path names them.
type PageAt = (String, String);
/// The headers and the body of an action.
type Sent = (HeaderMap, Bytes);

pub(super) fn router(sandbox: Sandbox) -> Router {
    // A GET of an action's URL leads back to its page.
    let action = get(back).post(checkout::act);
    let portal_action = get(back).post(portal::act);
    let document = |draw| get(move |state, path| documents::show(draw, state, path));
    Router::new()
        .route(
            "/sandbox/{project}/v1/{*path}",
            any(|state, path, request| api::call(ApiKind::Api, state, path, request)),
        )
        .route(
            "/sandbox/{project}/script/{*path}",
            any(|state, path, request| api::call(ApiKind::Script, state, path, request)),
        )
        .route("/sandbox/{project}/checkout/{id}", get(checkout::show))
        .route("/sandbox/{project}/checkout/{id}/{action}", action)
        .route(
            "/sandbox/{project}/receipts/{id}",
            document(documents::receipt),
        )
        .route(
            "/sandbox/{project}/invoices/{id}",
            document(documents::invoice),
        )
        .route(
            "/sandbox/{project}/invoices/{id}/pdf",
            document(documents::pdf),
        )
        .route("/sandbox/{project}/portal/{id}", get(portal::show))
        .route("/sandbox/{project}/portal/{id}/{action}", portal_action)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(sandbox)
}

async fn back(uri: Uri) -> Redirect {
    let page = uri.path().rsplit_once('/');
    Redirect::to(page.map_or("/", |(page, _)| page))
}

impl Sandbox {
    /// The project that a path names, if it has a sandbox.
    fn project(&self, text: &str) -> Option<(ProjectId, Settings)> {
        let project = text.parse().ok()?;
        Some((project, self.0.host.settings(project)?))
    }

    /// Delivers webhooks in the background: the caller may be the server that receives them, and they are retried
    /// anyway.
    fn deliver_behind(&self, project: ProjectId) {
        let store = Arc::clone(&self.0);
        tokio::spawn(async move { webhooks::deliver(&store, project).await });
    }

    /// Works on a project's state, after everything due before.
    async fn work<T: Send + 'static>(
        &self,
        project: ProjectId,
        work: impl FnOnce(&mut Database) -> Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        self.0.catch_up(project).await?;
        self.0.at(project, work).await
    }
}

async fn drawn(
    sandbox: &Sandbox,
    project: &str,
    draw: impl FnOnce(&mut Database, &str) -> Result<Response> + Send + 'static,
) -> Response {
    let Some((project, settings)) = sandbox.project(project) else {
        return pages::nothing();
    };
    let work = move |db: &mut Database| draw(db, &settings.name);
    match sandbox.work(project, work).await {
        Ok(page) => page,
        Err(Failure::Refused(_)) => pages::nothing(),
        Err(Failure::Broken(_)) => pages::unavailable(),
    }
}

/// Does an action of a form or a script on a page. When this returns, it is durable and its webhooks are delivered, so
/// the shop is notified before the buyer comes back.
async fn acted<T: Send + 'static>(
    sandbox: &Sandbox,
    project: ProjectId,
    work: impl FnOnce(&mut Database) -> Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let done = sandbox.work(project, work).await?;
    let _: Result<(), _> = webhooks::deliver(&sandbox.0, project).await;
    Ok(done)
}

fn ended(browser: bool, failure: &Failure) -> Response {
    match failure {
        Failure::Broken(_) if browser => pages::unavailable(),
        failure => failed(failure),
    }
}

fn absent(browser: bool, kind: &str, id: &str) -> Response {
    match browser {
        true => pages::nothing(),
        false => refused(&Refusal::no_such(kind, id)),
    }
}

fn is_browser((headers, _): &Sent) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter();
    accept
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/html"))
}

fn status(refusal: &Refusal) -> StatusCode {
    StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST)
}

fn refused(refusal: &Refusal) -> Response {
    (status(refusal), Json(refusal.body())).into_response()
}

/// Any failure, for scripts and programs. The cause of an internal error is not shown.
fn failed(failure: &Failure) -> Response {
    match failure {
        Failure::Refused(refusal) => refused(refusal),
        Failure::Broken(_) => {
            let message = "The sandbox cannot answer just now.";
            let body = json!({ "error": { "type": "api_error", "message": message } });
            (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
        }
    }
}
