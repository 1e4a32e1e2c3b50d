//! Reversals of deductions: the request, and its answer. The path names the deduction.

use actors::{Handle, ReversalAnswer};
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
    response::Response,
};
use catalog::ProjectCatalog;
use domain::{id::LedgerId, text::Meta, wallet::reverse_deduction::ReverseDeduction};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
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

/// The result of a reversal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reversed {
    /// Credits that can be spent now.
    balance: i64,
    /// Whether this very request gave them back; false on a repeat.
    reversed: bool,
    /// Credits that were given back; on a repeat, those of the first request.
    amount: i64,
}

/// The deduction that a path names; `None`: nothing can have this id.
#[derive(Debug)]
pub(crate) struct LedgerPath(Option<LedgerId>);

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
    /// Reverses the deduction, if it is one of the project's.
    pub(crate) async fn carry_out(
        self,
        handle: &Handle,
        project: &ProjectCatalog,
        LedgerPath(id): LedgerPath,
        header: &KeyHeader,
    ) -> Result<Response, Error> {
        let key = header.or(self.idempotency_key)?;
        let amount = self.amount.map(|amount| amount.0);
        let note = self.note.map(line);
        let id = id.ok_or_else(|| Error::new(ErrorCode::DeductionNotFound))?;
        let answer = handle.reverse_deduction(&project.scope, id, |meta| ReverseDeduction {
            amount,
            key,
            meta: with_note(meta, note),
        });
        let answer = answer.await;
        let ReversalAnswer {
            balance,
            amount,
            replayed,
        } = answer.map_err(|error| Error::from_wallet(error, project))?;
        let reversed = Reversed {
            balance,
            reversed: !replayed,
            amount,
        };
        respond::replayable(&reversed, replayed)
    }
}

/// A deduction's own `meta`, by which usage is counted, with a note; the note alone where both are too long.
fn with_note(meta: Option<&Meta>, note: Option<String>) -> Option<Meta> {
    let Some(note) = note else {
        return meta.cloned();
    };
    let own = meta.and_then(|meta| serde_json::from_str::<Map<String, Value>>(meta.as_str()).ok());
    let noted = |mut fields: Map<String, Value>| {
        fields.insert("note".into(), note.clone().into());
        Meta::new(Value::Object(fields).to_string()).ok()
    };
    noted(own.unwrap_or_default()).or_else(|| noted(Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_stands_beside_what_the_deduction_said() {
        let with = |meta: &str, note: Option<&str>| {
            let meta = Meta::new(meta).unwrap();
            let meta = with_note(Some(&meta), note.map(str::to_owned)).unwrap();
            meta.as_str().to_owned()
        };
        let own = r#"{"feature":"export"}"#;
        assert_eq!(with(own, None), own);
        assert_eq!(
            with(own, Some("an \"outage\"")),
            r#"{"feature":"export","note":"an \"outage\""}"#
        );
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(4080));
        assert_eq!(with(&long, Some("why")), r#"{"note":"why"}"#);
        assert_eq!(with_note(None, None), None);
    }
}
