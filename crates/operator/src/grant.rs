//! Grants and deducts credits by hand.

use actors::{Address, CommandResult};
use domain::{
    Amount,
    id::{ProductId, WalletKey},
    limit::Spender,
    money::grouped,
    text::{IdempotencyKey, Meta},
    wallet::{ProductRef, credit::Credit, deduct::Deduct, shortfall::OnShortfall},
};
use edge::audit::AuditEvent;
use identity::OutgoingValue;
use serde_json::{Value, json};
use wire::{Error, view::instant};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator, Outgoing, OutgoingResult,
    confirmation::{owner, wallet_fact},
};

needs!(Support: GrantCredits, DeductCredits);

/// Grants credits to a wallet.
#[derive(Debug)]
pub struct GrantCredits {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// How many credits of what; its note has the reason.
    pub credit: Credit,
}

/// Deducts credits from a wallet.
#[derive(Debug)]
pub struct DeductCredits {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// What the credits are for.
    pub product: ProductId,
    /// How many credits.
    pub amount: Amount,
    /// The key under which it is done once.
    pub key: IdempotencyKey,
    /// The note for the ledger, with the reason.
    pub meta: Option<Meta>,
}

/// The note in the ledger for a change by hand, whose reason the wallet's owner can read.
/// # Errors
/// The reason is too long.
pub fn manual_note(reason: &str) -> Result<Option<Meta>, Error> {
    let meta = json!({"reason": reason, "by": "dashboard"}).to_string();
    let meta = Meta::new(meta).map_err(|error| Error::text("reason", error))?;
    Ok(Some(meta))
}

fn reason(meta: Option<&Meta>) -> Option<String> {
    let meta: Value = serde_json::from_str(meta?.as_str()).ok()?;
    meta.get("reason")?.as_str().map(str::to_owned)
}

/// How many credits of what, in which wallet and why, for the audit log.
async fn words(
    by: &Operator<'_>,
    (wallet, product): (WalletKey, ProductId),
    credits: i64,
    meta: Option<&Meta>,
) -> Result<String, Error> {
    let view = by.wallet(wallet).await?;
    let of = format!("{} of {product} in {}", grouped(credits), view.id);
    Ok(match reason(meta) {
        Some(reason) => format!("{of}: {reason}"),
        None => of,
    })
}

impl Action for GrantCredits {
    type Answer = CommandResult;

    async fn outgoing(&self, _: &Operator<'_>) -> OutgoingResult {
        let credit = &self.credit;
        let (credits, end) = (grouped(credit.amount.get()), credit.expires_at.map(instant));
        let until = end.map(|end| format!(", until {end}")).unwrap_or_default();
        let (product, wallet) = (credit.product, self.wallet);
        Ok(Some(Outgoing {
            what: format!("grant {credits} of {product} in wallet {wallet}{until}"),
            value: OutgoingValue::Grant {
                wallet: self.wallet,
                product: credit.product,
                credits: credit.amount.get(),
                expires_at: credit.expires_at.map(|at| at.0),
            },
            reason: reason(credit.meta.as_ref()).unwrap_or_default(),
            key: credit.key.as_str().to_owned(),
        }))
    }

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let view = by.wallet(self.wallet).await?;
        let credit = &self.credit;
        let (credits, of) = (
            grouped(credit.amount.get()),
            by.product_name(credit.product),
        );
        let mut facts = vec![wallet_fact(&view)];
        facts.extend(reason(credit.meta.as_ref()).map(|reason| ("Reason", Fact::Verbatim(reason))));
        facts.extend(credit.expires_at.map(|at| ("Expires", at.into())));
        Confirmation::ask(format!("Grant {credits} {of} to {}?", owner(&view)), facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<CommandResult> {
        let Self { wallet, credit } = self;
        let what = (wallet, credit.product);
        let of = words(by, what, credit.amount.get(), credit.meta.as_ref()).await?;
        let attempt = format!("Grant {of}");
        by.announce(&attempt, None, Some(credit.key.as_str()))
            .await?;
        let (scope, address) = (&by.project.scope, Address::Stored(wallet));
        let applied = by.read(by.app.handle.credit(scope, &address, credit).await)?;
        let event = AuditEvent::once(applied.replayed, format!("Granted {of}"));
        Ok((applied, event))
    }
}

impl Action for DeductCredits {
    type Answer = CommandResult;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let view = by.wallet(self.wallet).await?;
        let (credits, of) = (grouped(self.amount.get()), by.product_name(self.product));
        let mut facts = vec![wallet_fact(&view)];
        facts.extend(reason(self.meta.as_ref()).map(|reason| ("Reason", Fact::Verbatim(reason))));
        Confirmation::ask(
            format!("Deduct {credits} {of} from {}?", owner(&view)),
            facts,
        )
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<CommandResult> {
        let (what, amount) = ((self.wallet, self.product), self.amount.get());
        let of = words(by, what, amount, self.meta.as_ref()).await?;
        let deduct = Deduct {
            product: ProductRef::Named(self.product),
            cost: self.amount.into(),
            key: self.key,
            meta: self.meta,
            on_shortfall: OnShortfall::Refuse,
            by: Spender::default(),
        };
        let attempt = format!("Deduct {of}");
        by.announce(&attempt, None, Some(deduct.key.as_str()))
            .await?;
        let (scope, address) = (&by.project.scope, Address::Stored(self.wallet));
        let applied = by.app.handle.deduct(scope, &address, deduct).await;
        by.app.edge.metrics.deducted(applied.as_ref());
        let applied = by.read(applied)?;
        let event = AuditEvent::once(applied.replayed, format!("Deducted {of}"));
        Ok((applied, event))
    }
}
