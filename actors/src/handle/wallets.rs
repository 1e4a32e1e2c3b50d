//! Wallets: minting, reading, granting, deducting, features, codes.

use domain::{
    Rejection,
    code::Code,
    id::{WalletId, WalletKey},
    text::{ExternalUserId, Feature},
    wallet::{Created, Owner, credit::Credit, deduct::Deduct, feature::FeatureAction},
};
use uuid::Uuid;

use super::{Address, Handle, Scope, created};
use crate::{
    answer::{Applied, Error, WalletView},
    registry::Absent,
    wallet::{Caller, Command, NewCode},
};

impl Handle {
    /// Mints an anonymous wallet. The code is told once.
    pub async fn create_code(&self, scope: &Scope) -> Result<(Code, WalletView), Error> {
        loop {
            let (code, NewCode { hash, sealed }) = self.new_code(scope);
            let key = WalletKey(hash.0);
            let id = WalletId(Uuid::now_v7().as_u128());
            let owner = Owner::Code { hash, sealed };
            let created = Created {
                id,
                project: scope.project,
                owner,
            };
            let command = |reply| Command::CreateCode(created, reply);
            match self
                .ask(key, Absent::Wake, scope, Caller::Code(hash), command)
                .await
            {
                // As good as never: the code is somebody else's already.
                Err(Error::Rejected(Rejection::WalletNotFound)) | Ok(None) => {}
                Ok(Some(view)) => return Ok((code, view)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Gets or creates a user's wallet.
    pub async fn open_external(
        &self,
        scope: &Scope,
        user: ExternalUserId,
    ) -> Result<WalletView, Error> {
        let address = Address::External(user);
        let (key, caller) = self.locate(scope, &address)?;
        let (absent, created) = created(scope, &address);
        let created = created.ok_or(Rejection::WalletNotFound)?;
        let command = |reply| Command::OpenExternal(created, reply);
        let view = self.ask(key, absent, scope, caller, command).await?;
        view.ok_or_else(|| Rejection::WalletNotFound.into())
    }

    /// Reads a wallet.
    pub async fn read(&self, scope: &Scope, address: &Address) -> Result<WalletView, Error> {
        self.ask_existing(scope, address, Command::Read).await
    }

    /// Uses credits up.
    pub async fn deduct(
        &self,
        scope: &Scope,
        address: &Address,
        command: Deduct,
    ) -> Result<Applied, Error> {
        self.ask_existing(scope, address, |reply| Command::Deduct(command, reply))
            .await
    }

    /// Grants credits; creates a user's wallet if there is none.
    pub async fn credit(
        &self,
        scope: &Scope,
        address: &Address,
        command: Credit,
    ) -> Result<Applied, Error> {
        let (key, caller) = self.locate(scope, address)?;
        let (absent, created) = created(scope, address);
        let command = |reply| Command::Credit(command, created, reply);
        let applied = self.ask(key, absent, scope, caller, command).await?;
        applied.ok_or_else(|| Rejection::WalletNotFound.into())
    }

    /// Grants or revokes a feature; all features after it. A grant creates a user's wallet if there
    /// is none.
    pub async fn set_feature(
        &self,
        scope: &Scope,
        address: &Address,
        feature: Feature,
        action: FeatureAction,
    ) -> Result<Vec<String>, Error> {
        let (key, caller) = self.locate(scope, address)?;
        let (absent, created) = match action {
            FeatureAction::Grant => created(scope, address),
            FeatureAction::Revoke => (Absent::Leave, None),
        };
        let command = |reply| Command::SetFeature(feature, action, created, reply);
        let features = self.ask(key, absent, scope, caller, command).await?;
        features.ok_or_else(|| Rejection::WalletNotFound.into())
    }

    /// Replaces a leaked code; the old one stops resolving at once.
    pub async fn rotate(&self, scope: &Scope, code: &Code) -> Result<Code, Error> {
        let address = Address::Code(code.clone());
        let (new, stored) = self.new_code(scope);
        let hash = stored.hash;
        let (wallet, caller) = self.locate(scope, &address)?;
        let command = |reply| Command::Rotate(stored, reply);
        let rotated = self
            .ask(wallet, Absent::Leave, scope, caller, command)
            .await?;
        rotated.ok_or(Rejection::WalletNotFound)?;
        self.inner.registry.rotated(hash, wallet);
        Ok(new)
    }

    pub(super) fn new_code(&self, scope: &Scope) -> (Code, NewCode) {
        let keyring = &self.inner.keyring;
        let code = keyring.draw_code();
        let hash = keyring.code_hash(scope.project, &code);
        let sealed = keyring.seal(&code);
        (code, NewCode { hash, sealed })
    }
}
