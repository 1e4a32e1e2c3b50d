//! What callers see of deductions and holds.

use actors::{CommandResult, HoldAnswer};
use api_types::{Deducted, DrawnHold, Hold, PlacedHold};
use domain::wallet::Coverage;

use super::{instant, word};

/// The result of a cost: of so many credits, unless a rate card priced it. `names_shortfall`: the request said what to do
/// with a shortfall.
#[must_use]
pub fn deducted(applied: &CommandResult, credits: i64, names_shortfall: bool) -> Deducted {
    let rated = applied.rated;
    let amount = rated.map_or(credits, |rated| rated.amount);
    let full = || names_shortfall.then(|| Coverage::full(amount));
    let coverage = applied.coverage.or_else(full);
    Deducted {
        balance: applied.balance,
        deducted: applied.applied && !applied.replayed,
        charged: coverage.map(|it| it.charged),
        owed: coverage.map(|it| it.owed),
        uncovered: coverage.map(|it| it.uncovered),
        late: applied.late,
        amount: rated.map(|it| it.amount),
        cost: rated.map(|it| it.cost.to_string()),
        rate_version: rated.map(|it| it.version),
        unpriced_usage: Vec::new(),
    }
}

/// A hold that was placed.
pub fn placed_hold(answer: &HoldAnswer) -> PlacedHold {
    PlacedHold {
        hold_id: answer.hold.id.to_string(),
        balance: answer.balance,
        amount: answer.hold.amount,
        status: word(answer.hold.status),
        expires_at: instant(answer.hold.expires_at),
        replayed: false,
        cost: answer.rated.map(|it| it.cost.to_string()),
        rate_version: answer.rated.map(|it| it.version),
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
        amount: answer.rated.map(|it| it.amount),
        cost: answer.rated.map(|it| it.cost.to_string()),
        rate_version: answer.rated.map(|it| it.version),
    }
}

/// A hold with its status.
pub fn hold(HoldAnswer { hold, .. }: &HoldAnswer) -> Hold {
    Hold {
        hold_id: hold.id.to_string(),
        product_id: hold.product.to_string(),
        amount: hold.amount,
        status: word(hold.status),
        settled_amount: hold.settled,
        expires_at: instant(hold.expires_at),
        drawn: hold.drawn,
        max_overrun: hold.max_overrun,
        owed: hold.owed,
        uncovered: hold.uncovered,
    }
}
