//! Reversals of deductions: the request, and its answer. The path names the deduction.

use actors::ReversalAnswer;
use api_types::Reversed;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
    response::Response,
};
use domain::{Amount, id::LedgerId, text::IdempotencyKey};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{KeyText, NoteText, Positive, line},
    respond,
};

use super::idempotency::KeyHeader;

/// What to give back of a deduction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReverseDeductionRequest {
    /// The most to give back; left out: all that is left of it.
    amount: Option<Positive>,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// Why. The ledger entry's `meta` has it as `note`, beside the deduction's own `meta`.
    note: Option<NoteText>,
}

/// The deduction that a path names; `None`: nothing can have this id.
#[derive(Debug)]
pub(crate) struct LedgerPath(Option<LedgerId>);

impl LedgerPath {
    /// The deduction, if it can be one.
    pub(crate) fn named(&self) -> Result<LedgerId, Error> {
        self.0
            .ok_or_else(|| Error::new(ErrorCode::DeductionNotFound))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for LedgerPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let mut params = params.iter().flatten();
        let named = params.find(|(name, _)| *name == "ledgerId");
        Ok(Self(named.and_then(|(_, id)| id.parse().ok())))
    }
}

impl ReverseDeductionRequest {
    /// The most to give back; `None`: all that is left.
    pub(crate) fn amount(&self) -> Option<Amount> {
        self.amount.as_ref().map(|amount| amount.0)
    }

    /// Why the credits are given back.
    pub(crate) fn note(&self) -> Option<String> {
        self.note.clone().map(line)
    }

    /// The key under which it is done once.
    pub(crate) fn key(&self, header: &KeyHeader) -> Result<IdempotencyKey, Error> {
        header.or(self.idempotency_key.clone())
    }
}

/// The answer to a reversal that was done, now or before.
pub(crate) fn answer(answer: &ReversalAnswer) -> Result<Response, Error> {
    let reversed = Reversed {
        balance: answer.balance,
        reversed: !answer.replayed,
        amount: answer.amount,
    };
    respond::replayable(&reversed, answer.replayed)
}
