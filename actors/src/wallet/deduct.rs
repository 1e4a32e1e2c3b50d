//! Deductions of credits.

use domain::{
    history::RecordKey,
    wallet::{deduct::Deduct, shortfall::CostDecision},
};

use super::{Command, Turn};
use crate::answer::{CommandResult, Error, RatedCharge};

impl Command for Deduct {
    type Answer = CommandResult;

    fn run(self, turn: &mut Turn<'_>) -> Result<CommandResult, Error> {
        let prior = turn.prior(RecordKey::Deduct(self.key.as_str()))?;
        let (rules, now) = (turn.use_rules(), turn.now());
        let decided = turn.wallet()?.deduct(self, prior.as_ref(), rules, now)?;
        // What stays below a credit is used, too.
        let is_rated = decided.rate.is_some();
        let uses_credits = is_rated || decided.coverage.charged > 0 || decided.coverage.owed > 0;
        meet(turn, decided, uses_credits)
    }
}

/// Logs how a cost is met. `uses_credits` tells whether it takes credits or makes a debt.
pub(super) fn meet(
    turn: &mut Turn<'_>,
    decided: CostDecision,
    uses_credits: bool,
) -> Result<CommandResult, Error> {
    let CostDecision {
        product,
        coverage,
        late,
        rate,
        change,
    } = decided;
    let now = change.is_some();
    if let Some(change) = change {
        turn.change(change)?;
    }
    Ok(CommandResult {
        balance: turn.wallet()?.available(product),
        applied: now && uses_credits,
        replayed: !now,
        rated: RatedCharge::of(rate.as_deref(), coverage.cost()),
        coverage: (!coverage.is_full()).then_some(coverage),
        late,
    })
}
