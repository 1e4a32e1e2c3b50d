//! Grants and revokes features by hand, and releases holds.

use actors::{Address, FeatureSource, HoldAccess};
use domain::{
    id::{HoldId, WalletKey},
    text::Feature,
    wallet::feature::FeatureAction,
};
use edge::audit::AuditEvent;
use wire::{Error, ErrorCode};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator,
    confirmation::{owner, wallet_fact},
};

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

impl SetFeature {
    /// Whether the wallet has it as it is to be.
    async fn is_done(&self, by: &Operator<'_>) -> Result<bool, Error> {
        let address = Address::Stored(self.wallet);
        let detail = by.app.handle.inspect(&by.project.scope, &address, 0).await;
        let detail = detail.map_err(|error| by.refused(error))?;
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
        let set = by
            .app
            .handle
            .set_feature(&by.project.scope, &address, feature, action);
        set.await.map_err(|error| by.refused(error))?;
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
        let title = "Release this hold?".into();
        Ok(Some(Confirmation { title, facts }))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let Self { wallet, hold } = self;
        if hold.wallet != wallet {
            return Err(Error::new(ErrorCode::HoldNotFound));
        }
        let id = by.wallet(wallet).await?.id;
        let released = by
            .app
            .handle
            .release(&by.project.scope, HoldAccess::All, hold)
            .await;
        let released = released.map_err(|error| by.refused(error))?;
        let what = format!("Released hold {hold} of {id}");
        Ok(((), AuditEvent::once(released.replayed, what)))
    }
}
