//! Reconciliation of a project's orders with the provider's own books: start one, and see its result.

use std::sync::Arc;

use axum::{Json, http::StatusCode};
use catalog::ProjectCatalog;
use domain::Timestamp;
use edge::{Read, body::Body};
use operator::StartReconciliation;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error,
    field::{InstantText, Text},
    view::instant,
};

use super::call::AdminCall;

/// The span of time to reconcile.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewReconciliation)]
pub(super) struct Create {
    /// Its first instant; three days before `to` when left out.
    from: Option<InstantText>,
    /// The first instant after it; now when left out.
    to: Option<InstantText>,
}

/// The state of reconciliation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Reconciliations {
    /// The one that is running, as far as it has come.
    pub running: Option<Reconciliation>,
    /// The last one that was completed.
    pub last: Option<Reconciliation>,
    /// Why a later one was not.
    pub error: Option<String>,
}

/// The provider's charges, refunds and disputes of a span of time, held against the orders.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconciliation {
    /// The first instant of the span.
    pub from: String,
    /// The first instant after it.
    pub to: String,
    /// When it began.
    pub started_at: String,
    /// When it ended; null while it goes on.
    pub ended_at: Option<String>,
    /// Whether every cent belongs to an order, an unfulfilled payment or another product.
    pub balanced: bool,
    /// Charges that were looked at.
    pub charges: u64,
    /// Refunds that were looked at.
    pub refunds: u64,
    /// Disputes that were looked at.
    pub disputes: u64,
    /// How many of them differed, but no longer did after another look.
    pub corrected: u64,
    /// How many of them still differ.
    pub differences: u64,
    /// What was charged, by currency.
    pub sums: Vec<ReconciledSum>,
    /// The first 100 differences.
    pub first_differences: Vec<ReconciliationDifference>,
}

/// What was charged in one currency, in its minor unit.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReconciledSum {
    /// ISO 4217, upper case.
    pub currency: String,
    /// Charged for orders.
    pub orders_cents: i64,
    /// Charged for unfulfilled payments.
    pub unfulfilled_cents: i64,
    /// Charged for other products on the same account.
    pub other_cents: i64,
    /// Charged for what differs.
    pub differing_cents: i64,
}

/// A difference between the provider's books and the orders.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReconciliationDifference {
    /// `unpaid`, `unplaced`, `amount`, `currency`, `refund` or `dispute`
    pub kind: String,
    /// The provider's charge, refund or dispute.
    pub id: String,
    /// The provider's payment.
    pub payment_id: Option<String>,
    /// The order's identifier: `ord_…`
    pub order_id: Option<String>,
    /// The provider's amount, in the currency's minor unit.
    pub provider_cents: i64,
    /// The order's amount.
    pub order_cents: Option<i64>,
    /// ISO 4217, upper case.
    pub currency: String,
}

impl From<payments::Reconciliation> for Reconciliation {
    fn from(result: payments::Reconciliation) -> Self {
        let at = |millis: i64| instant(Timestamp(millis)).to_string();
        let sums = result.sums.into_iter().map(|sum| ReconciledSum {
            currency: sum.currency.into(),
            orders_cents: sum.orders_cents,
            unfulfilled_cents: sum.unfulfilled_cents,
            other_cents: sum.other_cents,
            differing_cents: sum.differing_cents,
        });
        let first = result
            .found
            .into_iter()
            .map(|found| ReconciliationDifference {
                kind: found.kind.as_str().into(),
                id: found.id,
                payment_id: found.payment.map(|id| id.to_string()),
                order_id: found.order,
                provider_cents: found.provider_cents,
                order_cents: found.order_cents,
                currency: found.currency.into(),
            });
        Self {
            from: at(result.from),
            to: at(result.until),
            started_at: at(result.began_at),
            ended_at: (result.ended_at != 0).then(|| at(result.ended_at)),
            balanced: result.differences == 0,
            charges: result.charges,
            refunds: result.refunds,
            disputes: result.disputes,
            corrected: result.mended,
            differences: result.differences,
            sums: sums.collect(),
            first_differences: first.collect(),
        }
    }
}

pub(super) async fn create(
    call: AdminCall<StartReconciliation>,
    body: Body,
) -> Result<(StatusCode, Json<Reconciliations>), Error> {
    let Create { from, to } = body.parse()?;
    let project = call.project()?;
    let start = StartReconciliation {
        from: from.map(|Text(from)| from),
        until: to.map(|Text(to)| to),
    };
    call.run(Arc::clone(&project), start).await?;
    Ok((
        StatusCode::ACCEPTED,
        Json(status(&call.app.payments, &project)),
    ))
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Json<Reconciliations>, Error> {
    let project = call.project()?;
    Ok(Json(status(&call.app.payments, &project)))
}

fn status(payments: &payments::Payments, project: &ProjectCatalog) -> Reconciliations {
    let status = payments.reconciliations().status(project.project.id);
    Reconciliations {
        running: status.running.map(Reconciliation::from),
        last: status.last.map(Reconciliation::from),
        error: status.error,
    }
}
