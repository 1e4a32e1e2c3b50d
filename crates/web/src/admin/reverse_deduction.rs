//! Gives back what a deduction took.

use axum::response::Response;
use edge::body::Body;
use operator::ReverseDeduction;
use wire::Error;

use super::call::AdminCall;
use crate::http::{
    idempotency::KeyHeader,
    reversal::{self, LedgerPath, ReverseDeductionRequest},
};

pub(super) async fn reverse_deduction(
    call: AdminCall<ReverseDeduction>,
    deduction: LedgerPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: ReverseDeductionRequest = body.parse()?;
    let project = call.project()?;
    let reverse = ReverseDeduction {
        key: request.key(&header)?,
        deduction: deduction.named()?,
        amount: request.amount(),
        note: request.note(),
    };
    let reversed = call.run(project, reverse).await?;
    reversal::answer(&reversed)
}
