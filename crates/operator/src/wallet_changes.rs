//! Opens and freezes wallets, grants and revokes features by hand, releases holds, and erases personal data.

use actors::{Address, FeatureSource, HoldAccess, WalletView};
use domain::{
    id::{HoldId, WalletKey},
    text::{ExternalUserId, Feature},
    wallet::{feature::FeatureAction, freeze::SetFrozen},
};
use edge::audit::AuditEvent;
use operations::audit::Proof;
use payments::failpoint;
use wire::{Error, ErrorCode};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator,
    confirmation::{owner, wallet_fact},
};

needs!(Support: OpenWallet, ReleaseHold, SetFeature);

/// Creates the wallet of a user, unless there is one.
#[derive(Debug)]
pub struct OpenWallet(pub ExternalUserId);

/// Grants a feature to a wallet, or revokes a manual grant.
#[derive(Debug)]
pub struct SetFeature {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// The slug of the feature.
    pub feature: Feature,
    /// Whether it is granted or revoked.
    pub action: FeatureAction,
    /// Why, in a line.
    pub reason: String,
}

/// Releases a hold: its credits can be spent again.
#[derive(Debug)]
pub struct ReleaseHold {
    /// The wallet that it has to be of.
    pub wallet: WalletKey,
    /// Which hold it is.
    pub hold: HoldId,
}

impl Action for OpenWallet {
    type Answer = WalletView;

    async fn execute(self, by: &Operator<'_>) -> Execution<WalletView> {
        let view = by.read(by.app.handle.open_external(&by.project.scope, self.0).await)?;
        let what = format!("Opened wallet {}", view.id);
        Ok((view, AuditEvent::Did(what)))
    }
}

impl SetFeature {
    /// Whether the wallet has it as it is to be.
    async fn is_done(&self, by: &Operator<'_>) -> Result<bool, Error> {
        let address = Address::Stored(self.wallet);
        let detail = by.read(by.app.handle.inspect(&by.project.scope, &address, 0).await)?;
        let sources = detail.access.get(self.feature.as_str());
        let is_granted = sources.is_some_and(|all| all.contains(&FeatureSource::Manual));
        Ok(is_granted == (self.action == FeatureAction::Grant))
    }
}

impl Action for SetFeature {
    type Answer = ();

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        if self.is_done(by).await? {
            return Ok(None);
        }
        let view = by.wallet(self.wallet).await?;
        let (feature, owner) = (self.feature.as_str(), owner(&view));
        let title = match self.action {
            FeatureAction::Grant => format!("Grant the feature {feature} to {owner}?"),
            FeatureAction::Revoke => format!("Revoke the feature {feature} from {owner}?"),
        };
        let facts = vec![wallet_fact(&view), ("Reason", Fact::verbatim(&self.reason))];
        Ok(Some(Confirmation { title, facts }))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let is_before = self.is_done(by).await?;
        let Self {
            wallet,
            feature,
            action,
            reason,
        } = self;
        let did = match action {
            FeatureAction::Grant => "Granted",
            FeatureAction::Revoke => "Revoked",
        };
        let (address, slug) = (Address::Stored(wallet), feature.as_str().to_owned());
        by.read(
            by.app
                .handle
                .set_feature(&by.project.scope, &address, feature, action)
                .await,
        )?;
        let id = by.wallet(wallet).await?.id;
        let what = format!("{did} feature {slug} in {id}: {reason}");
        Ok(((), AuditEvent::once(is_before, what)))
    }
}

impl Action for ReleaseHold {
    type Answer = ();

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        if self.hold.wallet != self.wallet {
            return Err(Error::new(ErrorCode::HoldNotFound));
        }
        let view = by.wallet(self.wallet).await?;
        let happens = "The credits can be spent again, except for what was drawn; the hold can no longer be settled.";
        let facts = vec![
            wallet_fact(&view),
            ("Hold", Fact::Id(self.hold.to_string())),
            ("What happens", happens.into()),
        ];
        Confirmation::ask("Release this hold?", facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let Self { wallet, hold } = self;
        if hold.wallet != wallet {
            return Err(Error::new(ErrorCode::HoldNotFound));
        }
        let id = by.wallet(wallet).await?.id;
        let released = by.read(
            by.app
                .handle
                .release(&by.project.scope, HoldAccess::All, hold)
                .await,
        )?;
        let what = format!("Released hold {hold} of {id}");
        Ok(((), AuditEvent::once(released.replayed, what)))
    }
}

needs!(Support: SetWalletFrozen);

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
        Confirmation::ask(format!("{} {}?", self.verb(), owner(&view)), facts)
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
        let view = by.read(
            by.app
                .handle
                .set_frozen(scope, &address, self.command)
                .await,
        )?;
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

needs!(Manage: Erase);

/// Erases what is known of the person behind a wallet.
#[derive(Debug)]
pub struct Erase(pub WalletKey);

/// What was erased.
#[derive(Debug)]
pub struct ErasedData {
    /// The wallet's identifier.
    pub wallet: String,
    /// Orders that had a buyer's address or metadata.
    pub orders: usize,
    /// Operators' notes about it.
    pub notes: usize,
}

impl Action for Erase {
    type Answer = ErasedData;

    async fn confirmation(&self, _: &Operator<'_>) -> ConfirmationResult {
        let facts = vec![
            ("What goes", "The wallet’s e-mail address and card on file with its automatic top-up, the e-mail address and the metadata of all orders, paid or not, the address on payments that led to no order, and the notes about this wallet. It is not found by such an address any more, and no code is mailed there. This cannot be undone.".into()),
            ("What stays", "Credits, the ledger with callers’ notes (meta), sums of orders, the user id, and the provider’s name for the customer, which refunds need.".into()),
            ("What is elsewhere", "What the provider has, webhooks that were sent, events for 30 days, superseded records on the disk, which nothing shows, and backups until they are deleted.".into()),
            ("Later orders", "An order that is made or paid after this has its buyer’s address.".into()),
        ];
        Confirmation::ask("Erase this customer?", facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<ErasedData> {
        let view = by.wallet(self.0).await?;
        let words = format!("Erase the customer of {}", view.id);
        by.announce(&words, None, Some("")).await?;
        let payments = by
            .app
            .payments
            .erase_unfulfilled(&by.project, view.key)
            .await;
        let payments = payments.map_err(|error| Error::from_payments(error, &by.project))?;
        failpoint::reached("erase.payments");
        let address = Address::Stored(self.0);
        if let Err(error) = by.app.payments.remove_card(&by.project, &address).await {
            tracing::warn!(%error, "The payment provider keeps the card of an erased customer");
        }
        let orders = by.read(by.app.handle.erase(&by.project.scope, &address).await)?;
        failpoint::reached("erase.orders");
        let notes = by.app.wallet_notes.remove(view.key, None).await?;
        let what = format!(
            "Erased the customer of {}: {orders} orders, {notes} notes, {payments} payments without an order",
            view.id
        );
        let nothing = orders == 0 && notes == 0 && payments == 0;
        let event = AuditEvent::once(nothing, what);
        let wallet = view.id.to_string();
        Ok((
            ErasedData {
                wallet,
                orders,
                notes,
            },
            event,
        ))
    }
}
