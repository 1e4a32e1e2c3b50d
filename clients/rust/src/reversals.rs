//! Reversals: giving back what a deduction took.

use crate::{
    call::{Call, key_or_new},
    client::Scrip,
    error::Error,
};
use api_types::Reversed;
use serde::Serialize;

/// What to give back of a deduction; all that is left of it by default.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReverseDeduction {
    /// The most to give back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<u64>,
    /// Why, at most 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
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
        mut reverse: ReverseDeduction,
    ) -> Result<Reversed, Error> {
        let key = key_or_new(reverse.idempotency_key.take());
        reverse.idempotency_key = Some(key.clone());
        let call = Call::post(["deductions", ledger_id, "reverse"]).body(&reverse)?;
        self.call(call.keyed(&key)).await
    }
}
