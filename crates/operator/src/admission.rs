//! Credits and money for customers, and changes by which one person could evade their limits: counted towards a daily
//! limit, or kept until a second person approves.

use catalog::ProjectCatalog;
use domain::money::grouped;
use edge::{audit::AuditEvent, refused};
use identity::{Action as Request, Approval, Authority, OutgoingValue, Privilege};
use wire::Error;

use crate::{Operator, Outgoing, price_words};

/// The most characters of a request in the audit log, whose entries also name the requester and the approver.
const MAX_WORDS: usize = 350;

impl Operator<'_> {
    /// Whether this requires approval by a second person. The administrator's token is exempt.
    pub(crate) fn needs_approval(&self, value: &OutgoingValue) -> bool {
        self.authority.user().is_some() && value.needs_approval(self.project.project.approval)
    }

    /// Counts it towards the daily limit, or, where it requires approval, keeps the request; returns whether to go on.
    pub(crate) async fn admit(&self, outgoing: &Outgoing) -> Result<bool, Error> {
        let Outgoing { value, reason, key } = outgoing;
        if self.needs_approval(value) {
            let request = Request::Outgoing(value.clone());
            self.ask(request, self.words(value), (reason, key)).await?;
            return Ok(false);
        }
        let (people, now) = (&self.app.edge.people, self.app.edge.clock.now());
        let counted = people.count_outgoing(self.authority, value, key, now).await;
        counted.map(|()| true).map_err(refused)
    }

    /// Keeps a request until another person answers. `what` are its words, `why` the reason and the idempotency key.
    /// # Errors
    /// `too_many_approvals`; it could not be logged.
    pub async fn ask(
        &self,
        request: Request,
        what: String,
        why: (&str, &str),
    ) -> Result<(), Error> {
        let who = (self.project.project.id, self.authority);
        let (people, now) = (&self.app.edge.people, self.app.edge.clock.now());
        let what = what.chars().take(MAX_WORDS).collect();
        let kept = people
            .ask_for_approval(who, (request, what), why, now)
            .await;
        let what = format!("Requested approval to {}", words(&kept.map_err(refused)?));
        self.record(AuditEvent::Did(what));
        Ok(())
    }

    /// A value in words for the audit log.
    fn words(&self, value: &OutgoingValue) -> String {
        match value {
            OutgoingValue::Grant {
                wallet,
                product,
                credits,
                ..
            } => {
                let credits = grouped(*credits);
                format!("grant {credits} of {product} in wallet {wallet}")
            }
            OutgoingValue::Refund { order, cents } => {
                format!("refund {cents} cents of order {order}")
            }
            OutgoingValue::Payment { payment, cents } => {
                format!("refund payment {payment} of {cents} cents")
            }
            OutgoingValue::Reversal { deduction, credits } => {
                format!("reverse {} of deduction {deduction}", grouped(*credits))
            }
            OutgoingValue::Assignment {
                payment,
                price,
                credits,
                cents,
                ..
            } => {
                let (price, credits) = (price_words(&self.project, *price), grouped(*credits));
                format!(
                    "assign payment {payment} to {price}, which brings {credits} credits and {cents} cents beyond what was paid"
                )
            }
        }
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
#[must_use]
pub fn words(approval: &Approval) -> String {
    let Approval {
        id, what, reason, ..
    } = approval;
    match reason.is_empty() {
        true => format!("{what} ({id})"),
        false => format!("{what} ({id}): {reason}"),
    }
}
