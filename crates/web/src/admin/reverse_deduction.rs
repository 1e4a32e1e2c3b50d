//! Gives back what a deduction took.

use api_types::Reversed;
use axum::{extract::State, response::Response};
use edge::{Authorized, body::Body};
use operator::ReverseDeduction;
use wire::Error;

use super::{path::Segments, run};
use crate::{
    admin::App,
    http::{
        idempotency::KeyHeader,
        reversal::{self, LedgerPath, ReverseDeductionRequest},
    },
};

/// Reverse a deduction
///
/// Gives back what it took, to the lots that it came from. All reversals of a deduction together give back no more
/// than it took. Applied once for each `idempotencyKey`.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/deductions/{ledgerId}/reverse",
    operation_id = "reverseProjectDeduction",
    tag = "Wallets",
    request_body = ReverseDeductionRequest,
    responses((status = 200, description = "Done, now or before.", body = Reversed)),
    extensions(("x-errors" = json!([
        "idempotency_key_reused", "already_reversed", "hold_open", "balance_limit"
    ])))
)]
pub(super) async fn reverse_deduction(
    caller: Authorized<ReverseDeduction>,
    State(app): State<App>,
    path: Segments,
    deduction: LedgerPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: ReverseDeductionRequest = body.parse()?;
    let project = app.catalog.project(path.project()?)?;
    let reverse = ReverseDeduction {
        key: request.key(&header)?,
        deduction: deduction.named()?,
        amount: request.amount(),
        note: request.note(),
    };
    let reversed = run(&caller, &app, project, reverse).await?;
    reversal::answer(&reversed)
}
