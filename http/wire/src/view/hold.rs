//! What callers see of holds.

use actors::HoldAnswer;
use domain::history::HoldStatus;
use serde::Serialize;
use utoipa::ToSchema;

use super::Instant;

/// A hold that was placed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacedHold {
    /// The hold's identifier: `hold_…`
    hold_id: String,
    /// Credits that can be spent now.
    balance: i64,
    /// Credits set aside.
    amount: i64,
    expires_at: Instant,
}

impl From<&HoldAnswer> for PlacedHold {
    fn from(answer: &HoldAnswer) -> Self {
        Self {
            hold_id: answer.hold.id.to_string(),
            balance: answer.balance,
            amount: answer.hold.amount.get(),
            expires_at: Instant(answer.hold.expires_at),
        }
    }
}

/// A hold with its status.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    /// The hold's identifier: `hold_…`
    hold_id: String,
    product_id: String,
    /// Credits set aside when it was placed.
    amount: i64,
    /// `open`, `settled`, `released` or `expired`
    #[schema(value_type = String, example = "open")]
    status: HoldStatus,
    /// Credits deducted when it was settled, else 0.
    settled_amount: i64,
    expires_at: Instant,
}

impl From<&HoldAnswer> for Hold {
    fn from(HoldAnswer { hold, .. }: &HoldAnswer) -> Self {
        Self {
            hold_id: hold.id.to_string(),
            product_id: hold.product.to_string(),
            amount: hold.amount.get(),
            status: hold.status,
            settled_amount: hold.settled,
            expires_at: Instant(hold.expires_at),
        }
    }
}
