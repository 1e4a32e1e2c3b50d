//! `POST /deductions/{ledgerId}/reverse`: gives back what a deduction took.

use axum::{extract::State, response::Response};
use domain::wallet::reverse_deduction::ReverseDeduction;
use edge::{
    body::Body,
    caller::{MayReverse, SecretKey},
};
use wire::{Error, note::with_note};

use crate::{
    api::App,
    http::{
        idempotency::KeyHeader,
        reversal::{self, LedgerPath, ReverseDeductionRequest},
    },
};

pub(super) async fn reverse_deduction(
    State(app): State<App>,
    key: SecretKey<MayReverse>,
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
