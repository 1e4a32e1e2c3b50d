//! Gives back what a deduction took.

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
