//! Middleware that writes changes into the audit log: what is about to be done once the caller is known, the
//! result once it is done. Both happen even if the caller goes away meanwhile.

use std::sync::Arc;

use actors::detached;
use axum::{
    extract::{Request, State},
    http::{Method, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use domain::id::ProjectId;
use operations::audit::{AuditEntry, PendingEntry};
use parking_lot::Mutex;
use wire::{Error, ErrorCode};

use crate::{EdgeState, context::Context, layer::ADMIN_PREFIX};

/// A change that a request made; its response carries this to the middleware.
#[derive(Debug, Clone)]
pub struct AuditedAction {
    /// A session of the dashboard, or the administrator's token.
    pub who: String,
    /// What was done, in a sentence's words, without secrets.
    pub what: String,
}

/// Travels with a request that may change something, and takes its entry in the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingAction {
    entry: Arc<Mutex<Option<PendingEntry>>>,
    said: Arc<Mutex<Option<String>>>,
}

impl PendingAction {
    /// Says in words what was done, without secrets.
    pub(crate) fn say(&self, what: String) {
        *self.said.lock() = Some(what);
    }
}

/// The project and the kind of deed that a path is about.
fn subject(path: &str) -> (Option<ProjectId>, &'static str) {
    let mut segments = path.split('/');
    let project = segments.find_map(|segment| segment.parse::<ProjectId>().ok());
    let segment = match project {
        Some(_) => segments.next(),
        None => {
            let rest = path
                .strip_prefix(ADMIN_PREFIX)
                .or_else(|| path.strip_prefix("/dashboard"));
            rest.and_then(|rest| rest.split('/').nth(1))
        }
    };
    let kind = match segment.unwrap_or_default() {
        "products" | "prices" | "catalog" => "catalog",
        "users" | "people" | "invitation" | "sessions" | "account" | "sign-in" | "sign-out" => {
            "people"
        }
        "backups" | "cluster" | "cells" | "system" => "server",
        "keys" => "keys",
        "webhooks" => "webhooks",
        "wallets" => "wallets",
        "orders" => "orders",
        "unfulfilled-payments" | "reconciliation" | "adoptions" => "payments",
        _ => "projects",
    };
    (project, kind)
}

/// Writes into the log that `who` is about to make this request. Does nothing for one that only reads.
///
/// # Errors
///
/// The entry could not be written, or may not have been: then the request must not be answered.
pub async fn begin_entry(parts: &Parts, edge: &EdgeState, who: &str) -> Result<(), Error> {
    let Some(pending) = parts.extensions.get::<PendingAction>() else {
        return Ok(());
    };
    let context = Context::of(parts)?;
    // Of a form only the address: its fields may be secrets.
    let what = request_line(&parts.method, parts.uri.path());
    let from = context.client.to_string();
    let (project, kind) = subject(parts.uri.path());
    let entry = AuditEntry::done(edge.clock.now(), who.into(), &what, from).about(project, kind);
    let begun = edge.audit.begin(entry).await;
    let intent = begun.map_err(|error| {
        tracing::error!(%error, "A change that was requested could not be written into the audit log");
        Error::new(match error {
            actors::Error::Overloaded => ErrorCode::Overloaded,
            _ => ErrorCode::Unavailable,
        })
    })?;
    *pending.entry.lock() = Some(intent);
    Ok(())
}

fn request_line(method: &Method, path: &str) -> String {
    format!("{method} {path}")
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Middleware of the dashboard: a response says by its [`AuditedAction`] what was done.
pub async fn audit_pages(
    State(edge): State<Arc<EdgeState>>,
    request: Request,
    next: Next,
) -> Response {
    middleware(edge, request, next, |response, _| {
        response.extensions_mut().remove::<AuditedAction>()
    })
    .await
}

/// Middleware of the administration: what was done is what the handler said, or a request that succeeded.
pub async fn audit_admin_api(
    State(edge): State<Arc<EdgeState>>,
    request: Request,
    next: Next,
) -> Response {
    let what = request_line(request.method(), request.uri().path());
    middleware(edge, request, next, move |response, said| {
        let did = response.status().is_success();
        // Who it was stands in the entry already.
        let (who, what) = (String::new(), said.unwrap_or(what));
        did.then_some(AuditedAction { who, what })
    })
    .await
}

async fn middleware(
    edge: Arc<EdgeState>,
    mut request: Request,
    next: Next,
    audited: impl FnOnce(&mut Response, Option<String>) -> Option<AuditedAction> + Send + 'static,
) -> Response {
    let context = request.extensions().get::<Context>().cloned();
    let Some(context) = context.filter(|_| !is_read(request.method())) else {
        return next.run(request).await;
    };
    let pending = PendingAction::default();
    request.extensions_mut().insert(pending.clone());
    let log = Arc::clone(&edge);
    let (project, kind) = subject(request.uri().path());
    let at_work = pending.clone();
    let work = async move {
        let mut response = next.run(request).await;
        let said = at_work.said.lock().take();
        let audited = audited(&mut response, said);
        let intent = at_work.entry.lock().take();
        let noted = match (intent, audited) {
            (Some(intent), audited) => {
                let what = audited.as_ref().map(|audited| audited.what.as_str());
                log.audit.end(intent, what).await
            }
            // The caller was not signed in before this request: it is a sign-in.
            (None, Some(AuditedAction { who, what })) => {
                let from = context.client.to_string();
                let entry = AuditEntry::done(log.clock.now(), who, &what, from);
                log.audit.add(entry.about(project, kind)).await
            }
            (None, None) => Ok(()),
        };
        if let Err(error) = noted {
            tracing::error!(%error, "A change that was made could not be written into the audit log");
        }
        response
    };
    match detached(work).await {
        Ok(response) => response,
        Err(error) => {
            tracing::error!(%error, "A change failed through a defect of this service");
            let intent = pending.entry.lock().take();
            if let Some(intent) = intent {
                edge.audit.interrupted(intent).await;
            }
            Error::new(ErrorCode::InternalError).into_response()
        }
    }
}
