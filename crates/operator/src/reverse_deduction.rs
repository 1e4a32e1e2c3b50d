//! Reverses a deduction, in part or in full.

use actors::ReversalAnswer;
use domain::{
    Amount, id::LedgerId, money::grouped, text::IdempotencyKey,
    wallet::reverse_deduction::ReverseDeduction as Command,
};
use edge::audit::AuditEvent;
use identity::OutgoingValue;
use wire::note::with_note;

use crate::{Action, Execution, Operator, Outgoing, OutgoingResult};

needs!(Support: ReverseDeduction);

/// Reverses a deduction: its credits return to the lots that they came from.
#[derive(Debug)]
pub struct ReverseDeduction {
    /// The deduction's entry in the ledger.
    pub deduction: LedgerId,
    /// How many credits; `None`: all that are left of it.
    pub amount: Option<Amount>,
    /// The key under which it is done once.
    pub key: IdempotencyKey,
    /// Why; the wallet's owner can read it.
    pub note: Option<String>,
}

impl Action for ReverseDeduction {
    type Answer = ReversalAnswer;

    async fn outgoing(&self, by: &Operator<'_>) -> OutgoingResult {
        let credits = match self.amount {
            Some(amount) => amount.get(),
            None => {
                let (handle, scope) = (&by.app.handle, &by.project.scope);
                by.read(handle.reversible(scope, self.deduction).await)?
                    .left
            }
        };
        let (amount, deduction) = (grouped(credits), self.deduction);
        Ok(Some(Outgoing {
            what: format!("reverse {amount} of deduction {deduction}"),
            value: OutgoingValue::Reversal {
                deduction: self.deduction,
                credits,
            },
            reason: self.note.clone().unwrap_or_default(),
            key: self.key.as_str().to_owned(),
        }))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<ReversalAnswer> {
        let Self {
            deduction,
            amount,
            key,
            note,
        } = self;
        let why = note.as_ref().map(|note| format!(": {note}"));
        let why = why.unwrap_or_default();
        let attempt = format!("Reverse a part of deduction {deduction}{why}");
        by.announce(&attempt, None, Some(key.as_str())).await?;
        let reversed = by
            .app
            .handle
            .reverse_deduction(&by.project.scope, deduction, |meta| Command {
                amount,
                key,
                meta: with_note(meta, note),
            });
        let reversed = by.read(reversed.await)?;
        let credits = grouped(reversed.amount);
        let what = format!("Reversed {credits} of deduction {deduction}{why}");
        let event = AuditEvent::once(reversed.replayed, what);
        Ok((reversed, event))
    }
}
