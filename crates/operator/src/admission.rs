//! Credits and money for customers, and changes by which one person could evade their limits: counted towards a daily
//! limit, or kept until a second person approves.

use std::sync::Arc;

use catalog::ProjectCatalog;
use domain::id::ProjectId;
use edge::{audit::AuditEvent, refused};
use identity::{Action as Request, Approval, Authority, OutgoingValue, Privilege};
use wire::Error;

use crate::{Action, ActionScope, Operator, Outgoing, OutgoingResult};

/// The most characters of a request in the audit log, whose entries also name the requester and the approver.
const MAX_WORDS: usize = 350;

impl ActionScope for Arc<ProjectCatalog> {
    fn id(&self) -> Option<ProjectId> {
        Some(self.project.id)
    }

    async fn waits<A: Action>(by: &Operator<'_>, action: &A) -> Result<bool, Error> {
        let outgoing = by.outgoing(action).await?;
        Ok(outgoing.is_some_and(|it| by.needs_approval(&it.value)))
    }

    async fn admit<A: Action>(by: &Operator<'_>, action: &A) -> Result<bool, Error> {
        if let Some(outgoing) = by.outgoing(action).await?
            && !by.count(&outgoing).await?
        {
            return Ok(false);
        }
        if guards_changes(by.authority, &by.project)
            && let Some((change, what)) = action.guarded(by).await?
        {
            by.ask(Request::Change(Box::new(change)), what, ("", ""))
                .await?;
            return Ok(false);
        }
        Ok(true)
    }
}

impl Operator<'_> {
    /// What counts towards the limits of a person, which the administrator's token has not.
    async fn outgoing<A: Action>(&self, action: &A) -> OutgoingResult {
        match self.authority.user() {
            Some(_) => action.outgoing(self).await,
            None => Ok(None),
        }
    }

    fn needs_approval(&self, value: &OutgoingValue) -> bool {
        value.needs_approval(self.project.project.approval)
    }

    /// Counts it towards the daily limit, or, where it requires approval, keeps the request; returns whether to go on.
    async fn count(&self, outgoing: &Outgoing) -> Result<bool, Error> {
        let Outgoing {
            value,
            what,
            reason,
            key,
        } = outgoing;
        if self.needs_approval(value) {
            let request = Request::Outgoing(value.clone());
            self.ask(request, what.clone(), (reason, key)).await?;
            return Ok(false);
        }
        let (people, now) = (&self.app.edge.people, self.app.edge.clock.now());
        let counted = people.count_outgoing(self.authority, value, key, now).await;
        counted.map(|()| true).map_err(refused)
    }

    /// Keeps a request until another person answers. `what` are its words, `why` the reason and the idempotency key.
    async fn ask(&self, request: Request, what: String, why: (&str, &str)) -> Result<(), Error> {
        let who = (self.project.project.id, self.authority);
        let (people, now) = (&self.app.edge.people, self.app.edge.clock.now());
        let kept = people
            .ask_for_approval(who, (request, what), why, now)
            .await;
        let what = format!("Requested approval to {}", words(&kept.map_err(refused)?));
        self.record(AuditEvent::Did(what));
        Ok(())
    }
}

/// Whether somebody's secret keys, prices and free credits require approval, as grants or refunds do. Owners set the rules
/// and are exempt; so is the administrator's token.
#[must_use]
pub fn guards_changes(somebody: &Authority, project: &ProjectCatalog) -> bool {
    let project = &project.project;
    let rules = project.approval;
    let has_rules = rules.above_credits.is_some() || rules.above_cents.is_some();
    has_rules && !somebody.may(Privilege::Own, Some(project.id))
}

/// A request in words for the audit log.
pub(crate) fn words(approval: &Approval) -> String {
    let Approval { id, reason, .. } = approval;
    let what: String = approval.what.chars().take(MAX_WORDS).collect();
    match reason.is_empty() {
        true => format!("{what} ({id})"),
        false => format!("{what} ({id}): {reason}"),
    }
}
