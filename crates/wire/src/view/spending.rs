//! What callers see of deductions and holds.

use actors::{CommandResult, HoldAnswer};
use api_types::{Deducted, DrawnHold, Hold, PlacedHold};
use domain::wallet::Coverage;

use super::{instant, word};

/// The result of a cost. `names_shortfall`: the request said what to do with a shortfall.
#[must_use]
pub fn deducted(applied: &CommandResult, cost: i64, names_shortfall: bool) -> Deducted {
    let full = || names_shortfall.then(|| Coverage::full(cost));
    let coverage = applied.coverage.or_else(full);
    Deducted {
        balance: applied.balance,
        deducted: applied.applied && !applied.replayed,
        charged: coverage.map(|it| it.charged),
        owed: coverage.map(|it| it.owed),
        uncovered: coverage.map(|it| it.uncovered),
        late: applied.late,
    }
}

/// A hold that was placed.
pub fn placed_hold(answer: &HoldAnswer) -> PlacedHold {
    PlacedHold {
        hold_id: answer.hold.id.to_string(),
        balance: answer.balance,
        amount: answer.hold.amount.get(),
        status: word(answer.hold.status),
        expires_at: instant(answer.hold.expires_at),
        replayed: false,
    }
}

/// What a draw left of its hold.
#[must_use]
pub fn drawn_hold(answer: &HoldAnswer) -> DrawnHold {
    DrawnHold {
        balance: answer.balance,
        deducted: !answer.replayed,
        drawn: answer.hold.drawn,
        held: answer.hold.left(),
    }
}

/// A hold with its status.
pub fn hold(HoldAnswer { hold, .. }: &HoldAnswer) -> Hold {
    Hold {
        hold_id: hold.id.to_string(),
        product_id: hold.product.to_string(),
        amount: hold.amount.get(),
        status: word(hold.status),
        settled_amount: hold.settled,
        expires_at: instant(hold.expires_at),
        drawn: hold.drawn,
        max_overrun: hold.max_overrun,
        owed: hold.owed,
        uncovered: hold.uncovered,
    }
}
