//! Resolves changes of unknown outcome when the audit log is read: orders, payments and subscriptions prove them once the
//! provider has reported.

use actors::{Address, Handle};
use catalog::{CatalogStore, ProjectCatalog};
use domain::Timestamp;
use payments::{Payments, UnfulfilledState};

use crate::audit::{AuditEntry, AuditLog, Proof};

impl AuditLog {
    /// Writes which changes of unknown outcome are proved by now.
    pub async fn look_for_proofs(&self, catalog: &CatalogStore, payments: &Payments) {
        for AuditEntry {
            project,
            at,
            retry_key,
            proof,
            ..
        } in self.unproved().await
        {
            let project = project.and_then(|project| catalog.project(project).ok());
            let (Some(project), Some(retry_key), Some(proof)) = (project, retry_key, proof) else {
                continue;
            };
            if !is_proved(self.handle(), &project, payments, (Timestamp(at), &proof)).await {
                continue;
            }
            if let Err(error) = self.proved(&retry_key).await {
                tracing::warn!(%error, "What became of a change could not be written into the audit log");
            }
        }
    }
}

async fn is_proved(
    handle: &Handle,
    project: &ProjectCatalog,
    payments: &Payments,
    (at, proof): (Timestamp, &Proof),
) -> bool {
    let (scope, id) = (&project.scope, project.project.id);
    match proof {
        Proof::Refund { order, cents } => {
            let known = handle.order(scope, *order).await;
            known.is_ok_and(|known| known.order.reversal.refunded_cents >= *cents)
        }
        Proof::Payment { payment } => {
            let known = payments.unfulfilled().get(id, payment);
            known.is_some_and(|known| known.state == UnfulfilledState::Refunded)
        }
        Proof::Assignment { payment } => {
            let order = handle.order_of(scope, payment);
            order.is_ok_and(|order| order.is_some())
        }
        Proof::Freeze { wallet, frozen } => {
            let known = handle.read(scope, &Address::Stored(*wallet)).await;
            known.is_ok_and(|known| match &known.frozen {
                Some(freeze) => *frozen && freeze.since >= at,
                None => !*frozen,
            })
        }
        Proof::Subscription {
            wallet,
            subscription,
            at_once,
            ends,
        } => {
            let detail = handle.inspect(scope, &Address::Stored(*wallet), 0).await;
            let Ok(detail) = detail else { return false };
            let mut current = detail.subscriptions.iter();
            let known = current.find(|known| known.subscription.id == *subscription);
            let goes_on = known.is_some_and(|known| {
                known.ended_at.is_none() && (*at_once || !known.subscription.cancel_at_period_end)
            });
            goes_on != *ends
        }
    }
}
