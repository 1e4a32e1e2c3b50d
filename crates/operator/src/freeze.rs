//! Freezes a wallet, with a reason, and unfreezes it.

use actors::{Address, WalletView};
use domain::{id::WalletKey, wallet::freeze::SetFrozen};
use edge::audit::AuditEvent;
use operations::audit::Proof;

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator,
    confirmation::{owner, wallet_fact},
};

/// Freezes or unfreezes a wallet.
#[derive(Debug)]
pub struct SetWalletFrozen {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// Whether it is to be frozen, and why.
    pub command: SetFrozen,
}

impl SetWalletFrozen {
    const fn is_freeze(&self) -> bool {
        matches!(self.command, SetFrozen::Freeze(_))
    }

    const fn verb(&self) -> &'static str {
        if self.is_freeze() {
            "Freeze"
        } else {
            "Unfreeze"
        }
    }
}

impl Action for SetWalletFrozen {
    type Answer = WalletView;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let view = by.wallet(self.wallet).await?;
        if view.frozen.is_some() == self.is_freeze() {
            return Ok(None);
        }
        let mut facts = vec![wallet_fact(&view)];
        match &self.command {
            SetFrozen::Freeze(reason) => facts.extend([
                ("Reason", reason.as_ref().map_or("None".into(), |it| Fact::verbatim(it.as_str()))),
                ("What stops", "Deductions, new holds, draws and checkouts are refused. The recovery code alone does not replace it.".into()),
                ("What goes on", "Reading it, grants and refunds; payments under way are fulfilled, subscriptions renewed; open holds are settled for what they set aside, or released; credits expire.".into()),
            ]),
            SetFrozen::Unfreeze => {
                let former = view.frozen.as_ref().and_then(|it| it.reason.as_ref());
                facts.extend(former.map(|reason| ("It was frozen because", Fact::verbatim(reason.as_str()))));
                facts.push(("What goes on again", "Deductions, holds, draws and checkouts.".into()));
            }
        }
        let title = format!("{} {}?", self.verb(), owner(&view));
        Ok(Some(Confirmation { title, facts }))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<WalletView> {
        let before = by.wallet(self.wallet).await?;
        let proof = Proof::Freeze {
            wallet: before.key,
            frozen: self.is_freeze(),
        };
        let words = format!("{} {}", self.verb(), before.id);
        // Others may change it before a later try: only the wallet itself shows this one's outcome.
        let once = by.app.edge.clock.now().0.to_string();
        by.announce(&words, Some(proof), Some(&once)).await?;
        let (scope, address) = (&by.project.scope, Address::Stored(self.wallet));
        let set = by.app.handle.set_frozen(scope, &address, self.command);
        let view = set.await.map_err(|error| by.refused(error))?;
        let reason = view.frozen.as_ref().map(|freeze| freeze.reason.as_ref());
        let what = match reason {
            Some(Some(reason)) => format!("Froze {}: {}", view.id, reason.as_str()),
            Some(None) => format!("Froze {}", view.id),
            None => format!("Unfroze {}", view.id),
        };
        let event = AuditEvent::once(before.frozen == view.frozen, what);
        Ok((view, event))
    }
}
