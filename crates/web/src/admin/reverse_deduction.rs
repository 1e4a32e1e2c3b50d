//! Gives back what a deduction took.

use api_types::Reversed;
use axum::{extract::State, response::Response};
use edge::{Authorized, Support, body::Body};
use wire::Error;

use super::path::Segments;
use crate::{
    admin::App,
    http::{
        idempotency::KeyHeader,
        reversal::{LedgerPath, ReverseDeductionRequest},
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
    caller: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
    deduction: LedgerPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: ReverseDeductionRequest = body.parse()?;
    let project = app.catalog.project(path.project()?)?;
    let note = request.note().unwrap_or("no reason").to_owned();
    let of = deduction.to_string();
    let (words, key) = (
        format!("Give back a part of deduction {of}: {note}"),
        request.key(&header)?,
    );
    caller
        .announce_once(&app.edge, &words, None, key.as_str())
        .await?;
    let done = request.carry_out(&app.handle, &project, deduction, &header);
    let (answer, response) = done.await?;
    let what = format!("Reversed {} of deduction {of}: {note}", answer.amount);
    caller.did_once(answer.replayed, what);
    Ok(response)
}
