//! `POST /deductions/{ledgerId}/reverse`: gives back what a deduction took.

use api_types::Reversed;
use axum::{extract::State, response::Response};
use domain::wallet::reverse_deduction::ReverseDeduction;
use edge::{SecretKey, body::Body};
use wire::{Error, note::with_note};

use crate::{
    api::App,
    http::{
        idempotency::KeyHeader,
        reversal::{self, LedgerPath, ReverseDeductionRequest},
    },
};

/// Reverse a deduction
///
/// Gives back what a deduction took, also one of a batch, a draw or a settled hold: to the lots that it came from, or
/// where one has expired as credits that last a day. A debt is paid first. All reversals of a deduction together give
/// back no more than it took. Applied once for each `idempotencyKey`: a repeat answers `reversed: false` and the header
/// `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/deductions/{ledgerId}/reverse",
    tag = "Wallets of both kinds",
    request_body = ReverseDeductionRequest,
    responses((status = 200, description = "Done, now or before", body = Reversed)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "idempotency_key_reused", "already_reversed", "hold_open", "balance_limit"
    ])))
)]
pub(super) async fn reverse_deduction(
    State(app): State<App>,
    key: SecretKey,
    path: LedgerPath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: ReverseDeductionRequest = body.parse()?;
    let (once, amount, note) = (request.key(&header)?, request.amount(), request.note());
    let reversed = app
        .handle
        .reverse_deduction(&key.scope, path.named()?, |meta| ReverseDeduction {
            amount,
            key: once,
            meta: with_note(meta, note),
        });
    let reversed = reversed.await;
    reversal::answer(&reversed.map_err(|error| Error::from_wallet(error, &key))?)
}
