//! The sandbox's addresses: Stripe's API for programs, and pages for people.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use domain::id::ProjectId;

use super::{Sandbox, Settings, courier, till::Failure};
use crate::core::prelude::*;

mod api;
mod auth;
mod checkout;
mod fields;
mod papers;
mod portal;
mod unkind;

/// Requests have a few short fields.
const MAX_BODY_BYTES: usize = 64 * 1024;

pub(super) fn router(sandbox: Sandbox) -> Router {
    let action = get(checkout::back).post(checkout::act);
    let portal_action = get(portal::back).post(portal::act);
    Router::new()
        .route("/sandbox/{project}/v1/{*path}", any(api::call))
        .route("/sandbox/{project}/script/{*path}", any(api::script))
        .route("/sandbox/{project}/checkout/{id}", get(checkout::show))
        .route("/sandbox/{project}/checkout/{id}/{action}", action)
        .route("/sandbox/{project}/receipts/{id}", get(papers::receipt))
        .route("/sandbox/{project}/invoices/{id}", get(papers::invoice))
        .route("/sandbox/{project}/invoices/{id}/pdf", get(papers::pdf))
        .route("/sandbox/{project}/portal/{id}", get(portal::show))
        .route("/sandbox/{project}/portal/{id}/{action}", portal_action)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(sandbox)
}

impl Sandbox {
    /// The project that an address names, if it has a sandbox.
    fn project(&self, text: &str) -> Option<(ProjectId, Settings)> {
        let project = text.parse().ok()?;
        Some((project, self.0.world.settings(project)?))
    }

    /// Delivers what is due without keeping anybody waiting: the caller may be the very server that
    /// the webhooks go to, and its retries are ours to make either way.
    fn deliver_behind(&self, project: ProjectId) {
        let tills = Arc::clone(&self.0);
        tokio::spawn(async move { courier::deliver(&tills, project).await });
    }
}

/// Whether a person's browser asks, rather than a script.
fn is_browser(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter();
    accept
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/html"))
}

/// For scripts and programs: Stripe's form.
fn refused(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    (status, Json(refusal.body())).into_response()
}

/// Whatever went wrong, for scripts and programs. What is broken is not theirs to read.
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
