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
use operations::audit::{AuditEntry, PendingEntry};
use parking_lot::Mutex;
use wire::{Error, ErrorCode};

use crate::{EdgeState, context::Context};

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
struct PendingAction(Arc<Mutex<Option<PendingEntry>>>);

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
    let entry = AuditEntry::done(edge.clock.now(), who.into(), &what, from);
    let begun = edge.audit.begin(entry).await;
    let intent = begun.map_err(|error| {
        tracing::error!(%error, "A change that was requested could not be written into the audit log");
        Error::new(match error {
            actors::Error::Overloaded => ErrorCode::Overloaded,
            _ => ErrorCode::Unavailable,
        })
    })?;
    *pending.0.lock() = Some(intent);
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
    middleware(edge, request, next, |response| {
        response.extensions_mut().remove::<AuditedAction>()
    })
    .await
}

/// Middleware of the administration: a request that succeeded is what was done.
pub async fn audit_admin_api(
    State(edge): State<Arc<EdgeState>>,
    request: Request,
    next: Next,
) -> Response {
    let what = request_line(request.method(), request.uri().path());
    let who = ADMINISTRATOR.to_owned();
    middleware(edge, request, next, move |response| {
        let did = response.status().is_success();
        did.then_some(AuditedAction { who, what })
    })
    .await
}

/// The author of changes that are made with the administrator's token.
pub const ADMINISTRATOR: &str = "administrator's token";

async fn middleware(
    edge: Arc<EdgeState>,
    mut request: Request,
    next: Next,
    audited: impl FnOnce(&mut Response) -> Option<AuditedAction> + Send + 'static,
) -> Response {
    let context = request.extensions().get::<Context>().cloned();
    let Some(context) = context.filter(|_| !is_read(request.method())) else {
        return next.run(request).await;
    };
    let pending = PendingAction::default();
    request.extensions_mut().insert(pending.clone());
    let log = Arc::clone(&edge);
    let at_work = pending.clone();
    let work = async move {
        let mut response = next.run(request).await;
        let audited = audited(&mut response);
        let intent = at_work.0.lock().take();
        let noted = match (intent, audited) {
            (Some(intent), audited) => {
                let what = audited.as_ref().map(|audited| audited.what.as_str());
                log.audit.end(intent, what).await
            }
            // The caller was not signed in before this request: it is a sign-in.
            (None, Some(AuditedAction { who, what })) => {
                let from = context.client.to_string();
                let entry = AuditEntry::done(log.clock.now(), who, &what, from);
                log.audit.add(entry).await
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
            let intent = pending.0.lock().take();
            if let Some(intent) = intent {
                edge.audit.interrupted(intent).await;
            }
            Error::new(ErrorCode::InternalError).into_response()
        }
    }
}
