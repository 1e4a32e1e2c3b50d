//! What callers see of a deduction.

use domain::wallet::Coverage;
use serde::Serialize;
use utoipa::ToSchema;

/// The result of a deduction or of settling a hold. `charged`, `owed` and `uncovered` are there where the request said what to do
/// with a shortfall, and where there was one.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Deducted {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this very request took credits; false on a repeat.
    pub deducted: bool,
    /// Credits that were charged, those drawn from the hold before included. With the next two it adds up to the
    /// amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    charged: Option<i64>,
    /// Credits that are owed for it: what it added to the debt.
    #[serde(skip_serializing_if = "Option::is_none")]
    owed: Option<i64>,
    /// Credits that could neither be charged nor owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncovered: Option<i64>,
    /// Whether the hold had expired, and this was done as a deduction under its key; left out where it had not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    late: bool,
}

impl Deducted {
    /// The result of a cost. `names_shortfall`: the request said what to do with a shortfall.
    #[must_use]
    pub fn of(applied: &actors::CommandResult, cost: i64, names_shortfall: bool) -> Self {
        let full = || names_shortfall.then(|| Coverage::full(cost));
        let coverage = applied.coverage.or_else(full);
        Self {
            balance: applied.balance,
            deducted: applied.applied && !applied.replayed,
            charged: coverage.map(|it| it.charged),
            owed: coverage.map(|it| it.owed),
            uncovered: coverage.map(|it| it.uncovered),
            late: applied.late,
        }
    }
}
