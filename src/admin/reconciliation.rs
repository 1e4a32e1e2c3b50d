//! The proof of a project's orders against the provider's own books: begin one, and see what it came to.

use axum::{Json, extract::State, http::StatusCode};
use domain::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::path::Segments;
use crate::{
    catalog::ProjectCatalog,
    http::{
        Administrator, Body, Code, Error,
        field::{InstantText, Text},
        view::Instant,
    },
    payments::{self, PROOF_DAYS, Proof},
    state::App,
};

/// Seconds of a day.
const DAY: i64 = 24 * 3600;

/// What to hold against each other.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewReconciliation)]
struct Create {
    /// From when on; three days before `to` where it is left out.
    from: Option<InstantText>,
    /// Until when; now where it is left out.
    to: Option<InstantText>,
}

/// How reconciliation stands.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Reconciliations {
    /// The one that is being made, as far as it is.
    pub running: Option<Reconciliation>,
    /// The last one that came to its end.
    pub last: Option<Reconciliation>,
    /// Why one that was begun since did not.
    pub error: Option<String>,
}

/// The provider's charges, refunds and disputes of a span of time, held against the orders.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconciliation {
    /// The first instant.
    pub from: String,
    /// The first instant after.
    pub to: String,
    /// When it began.
    pub started_at: String,
    /// When it ended; null while it goes on.
    pub ended_at: Option<String>,
    /// Whether every cent is an order's, an unfulfilled payment's or another product's.
    pub adds_up: bool,
    /// Charges that were looked at.
    pub charges: u64,
    /// Refunds.
    pub refunds: u64,
    /// Disputes.
    pub disputes: u64,
    /// Those of them that differed, and not any more after looking again.
    pub mended: u64,
    /// Those that still differ.
    pub differences: u64,
    /// What was charged, by currency.
    pub sums: Vec<ReconciledSum>,
    /// The first 100 differences.
    pub found: Vec<ReconciliationDifference>,
}

/// What was charged in one currency, in its minor unit.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReconciledSum {
    /// ISO 4217, upper case.
    pub currency: String,
    /// For orders.
    pub orders_cents: i64,
    /// For unfulfilled payments.
    pub unfulfilled_cents: i64,
    /// For other products on the same account.
    pub other_cents: i64,
    /// For what differs.
    pub differing_cents: i64,
}

/// Something that does not fit.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReconciliationDifference {
    /// `unpaid`, `unplaced`, `amount`, `currency`, `refund` or `dispute`
    pub kind: String,
    /// The provider's charge, refund or dispute.
    pub id: String,
    /// The provider's payment.
    pub payment_id: Option<String>,
    /// `ord_…`
    pub order_id: Option<String>,
    /// What the provider says, in the currency's minor unit.
    pub provider_cents: i64,
    /// What the order says.
    pub order_cents: Option<i64>,
    /// ISO 4217, upper case.
    pub currency: String,
}

impl From<Proof> for Reconciliation {
    fn from(proof: Proof) -> Self {
        let at = |millis: i64| Instant(Timestamp(millis)).to_string();
        let sums = proof.sums.into_iter().map(|sum| ReconciledSum {
            currency: sum.currency.into(),
            orders_cents: sum.orders_cents,
            unfulfilled_cents: sum.unfulfilled_cents,
            other_cents: sum.other_cents,
            differing_cents: sum.differing_cents,
        });
        let found = proof
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
            from: at(proof.from),
            to: at(proof.until),
            started_at: at(proof.began_at),
            ended_at: (proof.ended_at != 0).then(|| at(proof.ended_at)),
            adds_up: proof.differences == 0,
            charges: proof.charges,
            refunds: proof.refunds,
            disputes: proof.disputes,
            mended: proof.mended,
            differences: proof.differences,
            sums: sums.collect(),
            found: found.collect(),
        }
    }
}

/// Begin to hold the provider's charges, refunds and disputes against the orders. It goes on when this is
/// answered; ask how it stands. Scrip does so by itself once a day.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/reconciliation",
    operation_id = "createReconciliation",
    tag = "Reconciliation",
    params(("projectId" = String, Path, description = "The project.")),
    request_body = Create,
    responses((status = 202, description = "Begun.", body = Reconciliations)),
    extensions(("x-errors" = json!([
        "project_not_found", "provider_not_configured", "provider_error", "reconciliation_running"
    ])))
)]
pub(super) async fn create(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<(StatusCode, Json<Reconciliations>), Error> {
    let Create { from, to } = body.parse()?;
    let project = app.catalog.project(path.project()?)?;
    let now = app.handle.now_in(&project.scope);
    let until = to.map_or(now, |Text(to)| to);
    let from = from.map_or(
        until.plus_seconds(PROOF_DAYS.saturating_mul(DAY).saturating_neg()),
        |Text(from)| from,
    );
    if from >= until {
        return Err(Error::invalid("from", "from has to be before to."));
    }
    let begun = app.payments.proofs().begin(&project, from, until);
    match begun.map_err(|error| Error::from_payments(error, &project))? {
        true => Ok((StatusCode::ACCEPTED, Json(status(&app.payments, &project)))),
        false => Err(Error::new(Code::ReconciliationRunning)),
    }
}

/// Show what the last reconciliation came to, and the one that goes on.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/reconciliation",
    operation_id = "getReconciliation",
    tag = "Reconciliation",
    params(("projectId" = String, Path, description = "The project.")),
    responses((status = 200, description = "How it stands.", body = Reconciliations)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn show(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Reconciliations>, Error> {
    let project = app.catalog.project(path.project()?)?;
    Ok(Json(status(&app.payments, &project)))
}

fn status(payments: &payments::Payments, project: &ProjectCatalog) -> Reconciliations {
    let status = payments.proofs().status(project.project.id);
    Reconciliations {
        running: status.running.map(Reconciliation::from),
        last: status.last.map(Reconciliation::from),
        error: status.error,
    }
}
