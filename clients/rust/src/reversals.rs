//! Reversals: giving back what a deduction took.

use crate::{call::Call, client::Scrip, error::Error};
use api_types::Reversed;
use serde::Serialize;

/// What to give back of a deduction; all that is left of it by default.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReverseDeduction {
    /// The most to give back.
    pub amount: Option<u64>,
    /// Why, at most 500 characters.
    pub note: Option<String>,
    /// The idempotency key. A new one is used by default.
    pub idempotency_key: Option<String>,
}

impl Scrip {
    /// Gives back what a deduction took, to the lots that it came from. `ledger_id` is its entry in the ledger, `led_…`.
    /// # Errors
    /// `secret_key_required`, `deduction_not_found`, `already_reversed`, `hold_open`, `balance_limit`,
    /// `idempotency_key_reused`, and the errors of any call.
    pub async fn reverse_deduction(
        &self,
        ledger_id: &str,
        reverse: ReverseDeduction,
    ) -> Result<Reversed, Error> {
        let call = Call::post(["deductions", ledger_id, "reverse"]).body(&reverse)?;
        self.call(call.keyed()).await
    }
}
