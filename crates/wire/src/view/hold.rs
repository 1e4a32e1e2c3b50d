//! What callers see of holds.

use actors::HoldAnswer;
use domain::history::HoldStatus;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Instant, wallet::is_zero};

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
    /// `open`, unless a repeat finds it `settled`, `released` or `expired`
    #[schema(value_type = String, example = "open")]
    status: HoldStatus,
    expires_at: Instant,
}

impl From<&HoldAnswer> for PlacedHold {
    fn from(answer: &HoldAnswer) -> Self {
        Self {
            hold_id: answer.hold.id.to_string(),
            balance: answer.balance,
            amount: answer.hold.amount.get(),
            status: answer.hold.status,
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
    /// Credits deducted when it was settled, those that are owed and those that were drawn included; else 0.
    settled_amount: i64,
    expires_at: Instant,
    /// Credits that were drawn from it while it was open: they stay charged however it ends. Left out when there are
    /// none.
    #[serde(skip_serializing_if = "is_zero")]
    drawn: i64,
    /// How much the work may come to owe; left out when nothing.
    #[serde(skip_serializing_if = "is_zero")]
    max_overrun: i64,
    /// What of the settlement is owed; left out when nothing.
    #[serde(skip_serializing_if = "is_zero")]
    owed: i64,
    /// What of the cost the settlement could not take; left out when nothing.
    #[serde(skip_serializing_if = "is_zero")]
    uncovered: i64,
}

/// What a draw left of its hold.
#[derive(Debug, Serialize, ToSchema)]
pub struct DrawnHold {
    /// Credits that can be spent now.
    balance: i64,
    /// Whether this very request charged credits; false on a repeat.
    deducted: bool,
    /// Credits drawn from the hold so far.
    drawn: i64,
    /// Credits that the hold still sets aside.
    held: i64,
}

impl From<&HoldAnswer> for DrawnHold {
    fn from(answer: &HoldAnswer) -> Self {
        Self {
            balance: answer.balance,
            deducted: !answer.replayed,
            drawn: answer.hold.drawn,
            held: answer.hold.left(),
        }
    }
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
            drawn: hold.drawn,
            max_overrun: hold.max_overrun,
            owed: hold.owed,
            uncovered: hold.uncovered,
        }
    }
}
