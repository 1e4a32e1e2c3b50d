//! What callers see of a deduction.

use serde::Serialize;
use utoipa::ToSchema;

/// The result of a deduction or of settling a hold.
#[derive(Debug, Serialize, ToSchema)]
pub struct Deducted {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this very request took credits; false on a repeat.
    pub deducted: bool,
}

impl From<actors::CommandResult> for Deducted {
    fn from(applied: actors::CommandResult) -> Self {
        Self {
            balance: applied.balance,
            deducted: applied.applied && !applied.replayed,
        }
    }
}
