//! Reversals of deductions: the request, and its answer. The path names the deduction.

use std::fmt;

use actors::{Handle, ReversalAnswer};
use api_types::Reversed;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
    response::Response,
};
use catalog::ProjectCatalog;
use domain::{id::LedgerId, text::IdempotencyKey, wallet::reverse_deduction::ReverseDeduction};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{KeyText, NoteText, Positive, line},
    note::with_note,
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

impl fmt::Display for LedgerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(id) => id.fmt(f),
            None => f.write_str("led_?"),
        }
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
    /// Why the credits are given back, if that is said.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_ref().map(|note| note.0.0.as_str())
    }

    /// The key under which it is done once.
    pub(crate) fn key(&self, header: &KeyHeader) -> Result<IdempotencyKey, Error> {
        header.or(self.idempotency_key.clone())
    }

    /// Reverses the deduction, if it is one of the project's.
    pub(crate) async fn carry_out(
        self,
        handle: &Handle,
        project: &ProjectCatalog,
        LedgerPath(id): LedgerPath,
        header: &KeyHeader,
    ) -> Result<(ReversalAnswer, Response), Error> {
        let key = self.key(header)?;
        let amount = self.amount.map(|amount| amount.0);
        let note = self.note.map(line);
        let id = id.ok_or_else(|| Error::new(ErrorCode::DeductionNotFound))?;
        let answer = handle.reverse_deduction(&project.scope, id, |meta| ReverseDeduction {
            amount,
            key,
            meta: with_note(meta, note),
        });
        let answer = answer.await;
        let answer = answer.map_err(|error| Error::from_wallet(error, project))?;
        let reversed = Reversed {
            balance: answer.balance,
            reversed: !answer.replayed,
            amount: answer.amount,
        };
        let response = respond::replayable(&reversed, answer.replayed)?;
        Ok((answer, response))
    }
}
