//! Requests for approval: of credits and money above what one person may give alone, and of changes of the project by
//! which an operator could evade that.

use axum::response::Response;
use catalog::ProjectCatalog;
use domain::catalog::ApiKey;
use edge::refused;
use identity::{Action, Approval, CatalogChange, KeyTerms, Privilege};
use maud::{Markup, html};
use wire::Error;

use super::{layout::base, page_request::PageRequest};
use crate::state::App;

/// The most characters of a request in the audit log, whose entries also name the requester and the approver.
const MAX_WORDS: usize = 350;

pub(super) fn path(project: &ProjectCatalog) -> String {
    format!("{}/approvals", base(project))
}

/// Whether secret keys, prices and free credits require approval, as grants or refunds do. Owners set the rules and are
/// exempt; so is the administrator's token.
pub(super) fn guards_changes(request: &PageRequest, project: &ProjectCatalog) -> bool {
    let rules = project.project.approval;
    let has_rules = rules.above_credits.is_some() || rules.above_cents.is_some();
    has_rules && !request.may(Privilege::Own)
}

/// The hint of a form for such a change.
pub(super) fn notice(request: &PageRequest, project: &ProjectCatalog, what: &str) -> Markup {
    html! { @if guards_changes(request, project) {
        p.hint { (what) " require approval by a second person. The request expires after seven days." }
    } }
}

/// Keeps a request until another person answers, and leads to the page that lists it. `what` are its words, `why` the
/// reason and the idempotency key.
pub(super) async fn ask(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
    (action, what): (Action, String),
    why: (&str, &str),
) -> Result<Response, Error> {
    let who = (project.project.id, &request.authority);
    let (people, now) = (&app.edge.people, app.edge.clock.now());
    let what = what.chars().take(MAX_WORDS).collect();
    let kept = people.ask_for_approval(who, (action, what), why, now).await;
    let kept = kept.map_err(refused)?;
    let what = format!("Requested approval to {}", words(&kept));
    Ok(request.done(&path(project), "asked", what))
}

/// As [`ask`], for a change of the project.
pub(super) async fn ask_for_change(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
    change: CatalogChange,
    what: String,
) -> Result<Response, Error> {
    let action = Action::Change(Box::new(change));
    ask(app, request, project, (action, what), ("", "")).await
}

/// A request in words for the audit log.
pub(super) fn words(approval: &Approval) -> String {
    let Approval {
        id, what, reason, ..
    } = approval;
    match reason.is_empty() {
        true => format!("{what} ({id})"),
        false => format!("{what} ({id}): {reason}"),
    }
}

pub(super) fn key_terms(key: &ApiKey) -> KeyTerms {
    KeyTerms {
        name: key.name.clone(),
        expires_at: key.expires_at,
    }
}
