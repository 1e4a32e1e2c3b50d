//! Cancels and resumes subscriptions.

use actors::{Address, SubscriptionDetail, WalletDetail};
use domain::{
    id::{PublicSubscriptionId, WalletKey},
    project_event::SubscriptionSnapshot,
    text::IdempotencyKey,
    wallet::{NamedSubscription, SubscriptionAction, SubscriptionInstruction},
};
use edge::audit::AuditEvent;
use operations::audit::Proof;
use wire::{Error, ErrorCode};

use crate::{Action, Confirmation, ConfirmationResult, Execution, Operator, refund::lost};

needs!(Support: EndSubscription);

/// Whether a subscription is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionEnd {
    /// At the end of the period that is paid.
    AfterPeriod,
    /// It ends at once.
    Now,
    /// Not: it goes on.
    Never,
}

/// Cancels or resumes a subscription of a wallet.
#[derive(Debug)]
pub struct EndSubscription {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// Which subscription of the wallet.
    pub subscription: PublicSubscriptionId,
    /// Whether it is to end.
    pub end: SubscriptionEnd,
    /// The key under which it is done once.
    pub key: IdempotencyKey,
}

impl EndSubscription {
    async fn wallet(&self, by: &Operator<'_>) -> Result<WalletDetail, Error> {
        let address = Address::Stored(self.wallet);
        let detail = by.app.handle.inspect(&by.project.scope, &address, 0).await;
        by.read(detail)
    }

    /// The subscription, unless it is over.
    fn known<'a>(&self, wallet: &'a WalletDetail) -> Option<&'a SubscriptionDetail> {
        let mut current = wallet.subscriptions.iter();
        current.find(|known| known.subscription.id == self.subscription)
    }
}

fn tier(by: &Operator<'_>, known: &SubscriptionDetail) -> String {
    let label = known.subscription.label.as_deref().map(str::to_owned);
    label.unwrap_or_else(|| by.product_name(known.subscription.product))
}

impl Action for EndSubscription {
    type Answer = SubscriptionSnapshot;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let when = match self.end {
            SubscriptionEnd::AfterPeriod => "at the end of the period",
            SubscriptionEnd::Now => "now",
            SubscriptionEnd::Never => return Ok(None),
        };
        let wallet = self.wallet(by).await?;
        let known = self.known(&wallet);
        let known = known.ok_or_else(|| Error::new(ErrorCode::SubscriptionNotFound))?;
        let mut facts = vec![("Paid until", known.subscription.current_period_end.into())];
        match self.end {
            SubscriptionEnd::Now => {
                facts.extend(lost(&by.project, &known.loss, "Credits that end now"));
            }
            SubscriptionEnd::AfterPeriod | SubscriptionEnd::Never => {
                let stays = "Credits and features stay as they are. It can be resumed.";
                facts.push(("Until then", stays.into()));
            }
        }
        let money = "Nothing is refunded by this. Refund it on the order's page.";
        facts.push(("Money", money.into()));
        Confirmation::ask(format!("Cancel {} {when}?", tier(by, known)), facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<SubscriptionSnapshot> {
        // One that is over is known by the key under which it was canceled.
        let detail = self.wallet(by).await?;
        let (of, id) = (detail.view.id, self.subscription);
        let known = self.known(&detail);
        let name = known.map(|known| format!("{} ({id})", tier(by, known)));
        let name = name.unwrap_or_else(|| id.to_string());
        let Self {
            wallet, end, key, ..
        } = self;
        let cancel = |at_period_end| SubscriptionAction::Cancel { at_period_end };
        let (action, verb, did) = match end {
            SubscriptionEnd::AfterPeriod => {
                (cancel(true), "Cancel", "Canceled at the end of its period")
            }
            SubscriptionEnd::Now => (cancel(false), "Cancel", "Canceled at once"),
            SubscriptionEnd::Never => (SubscriptionAction::Resume, "Resume", "Resumed"),
        };
        let instruction = SubscriptionInstruction {
            named: NamedSubscription::Id(id, None),
            action,
            key,
        };
        let proof = Proof::Subscription {
            wallet,
            subscription: id,
            at_once: end == SubscriptionEnd::Now,
            ends: end != SubscriptionEnd::Never,
        };
        let attempt = format!("{verb} the subscription of {of} to {name}");
        by.announce(&attempt, Some(proof), None).await?;
        let (project, address) = (by.project.clone(), Address::Stored(wallet));
        let done = by
            .app
            .payments
            .instruct(project, address, instruction)
            .await;
        let done = by.instructed(done)?;
        let what = format!("{did}: the subscription of {of} to {name}");
        Ok((done.after, AuditEvent::once(done.replayed, what)))
    }
}
