//! Middleware that writes changes into the audit log: what is about to be done once the caller is known, the
//! result once it is done. Both happen even if the caller disconnects.

use std::sync::Arc;

use actors::detached;
use axum::{
    extract::{Request, State},
    http::{Method, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use domain::id::{ApprovalId, ProjectId};
use operations::audit::{AuditEntry, ChangeOutcome, PendingEntry, Proof};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
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

/// What a response with a server error carries if certainly nothing was done.
#[derive(Debug, Clone, Copy)]
pub struct NothingDone;

/// Travels with a request that may change something, and takes its entry in the log.
#[derive(Debug, Clone, Default)]
pub struct PendingAction {
    entry: Arc<Mutex<Option<PendingEntry>>>,
    /// `None`: what was asked for was done if it succeeds.
    event: Arc<Mutex<Option<AuditEvent>>>,
}

/// What the audit log says of a change, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditEvent {
    /// It was done, in these words.
    Did(String),
    /// A part of it was done, in these words, and the rest refused.
    DidInPart(String),
    /// It had been done before.
    DoneBefore,
    /// There was nothing to do.
    DidNothing,
}

impl AuditEvent {
    /// In these words, unless it had been done before.
    #[must_use]
    pub fn once(replayed: bool, what: String) -> Self {
        match replayed {
            true => Self::DoneBefore,
            false => Self::Did(what),
        }
    }

    /// What changed of something, if anything did.
    #[must_use]
    pub fn changed(subject: &str, changes: Option<String>) -> Self {
        changes.map_or(Self::DidNothing, |changes| {
            Self::Did(format!("Changed {subject}: {changes}"))
        })
    }
}

impl PendingAction {
    /// Says what became of it.
    pub fn record(&self, event: AuditEvent) {
        *self.event.lock() = Some(event);
    }

    /// Writes in words what is about to be done, without secrets, and what shows later that it was: before something
    /// whose outcome may stay unknown. It is the same attempt if it is repeated in the same words under this key.
    /// # Errors
    /// It could not be written, or may not have been: then it must not be done.
    pub async fn announce(
        &self,
        edge: &EdgeState,
        what: &str,
        proof: Option<Proof>,
        key: Option<&str>,
    ) -> Result<(), Error> {
        let entry = self.entry.lock().take();
        let Some(entry) = entry else { return Ok(()) };
        let retry_key = key.map(|key| keyed(what, key));
        let written = edge.audit.announce(&entry, what, proof, retry_key).await;
        *self.entry.lock() = Some(entry);
        written.map_err(unwritten)
    }
}

fn unwritten(error: actors::Error) -> Error {
    tracing::error!(%error, "A change that was requested could not be written into the audit log");
    Error::new(match error {
        actors::Error::Overloaded => ErrorCode::Overloaded,
        _ => ErrorCode::Unavailable,
    })
}

/// What is the same if a request is made again: what is decided once about a payment without an order or an approval; else
/// that under one key of the caller's.
fn retry_key(path: &str, key: Option<&str>) -> Option<String> {
    const ONCE: [&str; 2] = ["unfulfilled-payments", "approvals"];
    let segments: Vec<_> = path.split('/').collect();
    let once = segments.iter().position(|segment| ONCE.contains(segment));
    let once = once.and_then(|place| segments.get(place..place.saturating_add(3)));
    if let Some([kind, id, verb]) = once {
        return Some(format!("{kind}/{id}/{verb}"));
    }
    let key = key.filter(|key| !key.is_empty())?;
    Some(keyed(path, key))
}

fn keyed(what: &str, key: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(format!("{what}\0{key}")).into();
    let half = hash.first_chunk::<16>().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(half))
}

/// The retry key that the entry of an approval has.
pub fn retry_key_of_approval(approval: ApprovalId) -> String {
    format!("approvals/{approval}/approve")
}

/// The project and the kind of action that a path is about.
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

/// Writes into the log that `who` is about to make this request, under the key of a form that has one. Does nothing for
/// one that only reads.
/// # Errors
/// The entry could not be written, or may not have been: then the request must not be answered.
pub async fn begin_entry(
    parts: &Parts,
    edge: &EdgeState,
    who: &str,
    key: Option<&str>,
) -> Result<(), Error> {
    let Some(pending) = parts.extensions.get::<PendingAction>() else {
        return Ok(());
    };
    let context = Context::of(parts)?;
    // Of a form only the address: its fields may be secrets.
    let what = request_line(&parts.method, parts.uri.path());
    let from = context.client.to_string();
    let (project, kind) = subject(parts.uri.path());
    let entry = AuditEntry::done(edge.clock.now(), who.into(), &what, from)
        .about(project, kind)
        .with_retry_key(retry_key(parts.uri.path(), key));
    let intent = edge.audit.begin(entry).await.map_err(unwritten)?;
    *pending.entry.lock() = Some(intent);
    Ok(())
}

fn request_line(method: &Method, path: &str) -> String {
    format!("{method} {path}")
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Middleware of the dashboard: what was done is what the handler said, or its response by an [`AuditedAction`].
pub async fn audit_pages(
    State(edge): State<Arc<EdgeState>>,
    request: Request,
    next: Next,
) -> Response {
    middleware(edge, request, next, |response, event| {
        match response.extensions_mut().remove::<AuditedAction>() {
            Some(AuditedAction { who, what }) => (who, AuditEvent::Did(what)),
            None => (String::new(), event.unwrap_or(AuditEvent::DidNothing)),
        }
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
    middleware(edge, request, next, move |response, event| {
        let event = match (response.status().is_success(), event) {
            (false, Some(event @ AuditEvent::DidInPart(_))) => event,
            (false, _) => AuditEvent::DidNothing,
            (true, event) => event.unwrap_or(AuditEvent::Did(what)),
        };
        // The entry has the actor already.
        (String::new(), event)
    })
    .await
}

/// Whether a response leaves open what was done.
fn is_unknown(response: &Response) -> bool {
    let extensions = response.extensions();
    let is_certain = extensions.get::<NothingDone>().is_some()
        || extensions
            .get::<Error>()
            .is_some_and(Error::nothing_was_done);
    response.status().is_server_error() && !is_certain
}

async fn middleware(
    edge: Arc<EdgeState>,
    mut request: Request,
    next: Next,
    audited: impl FnOnce(&mut Response, Option<AuditEvent>) -> (String, AuditEvent) + Send + 'static,
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
        let event = at_work.event.lock().take();
        let (who, event) = audited(&mut response, event);
        let intent = at_work.entry.lock().take();
        let noted = match (intent, event) {
            (Some(intent), AuditEvent::Did(what) | AuditEvent::DidInPart(what)) => {
                log.audit.end(intent, ChangeOutcome::Done(&what)).await
            }
            (Some(intent), AuditEvent::DoneBefore) => {
                log.audit.end(intent, ChangeOutcome::DoneBefore).await
            }
            (Some(intent), AuditEvent::DidNothing) => {
                let outcome = match is_unknown(&response) {
                    true => ChangeOutcome::Unknown,
                    false => ChangeOutcome::Nothing,
                };
                log.audit.end(intent, outcome).await
            }
            // The caller was not signed in before this request: it is a sign-in.
            (None, AuditEvent::Did(what) | AuditEvent::DidInPart(what)) => {
                let from = context.client.to_string();
                let entry = AuditEntry::done(log.clock.now(), who, &what, from);
                log.audit.add(entry.about(project, kind)).await
            }
            (None, _) => Ok(()),
        };
        response.extensions_mut().remove::<NothingDone>();
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
                // The stored entry says already that its result is not known.
                let _ = edge.audit.end(intent, ChangeOutcome::Unknown).await;
            }
            Error::new(ErrorCode::InternalError).into_response()
        }
    }
}
