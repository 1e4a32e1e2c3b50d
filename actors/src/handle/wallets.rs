//! Wallets: minting, reading, granting, deducting, features, codes.

use domain::{
    Rejection,
    code::Code,
    id::WalletKey,
    text::{ExternalUserId, Feature},
    wallet::{Owner, credit::Credit, deduct::Deduct, feature::FeatureAction},
};

use super::{Address, Handle, Scope, born, created};
use crate::{
    answer::{Applied, Error, WalletView},
    keyring::external_key,
    wallet::{Caller, CreateCode, Grant, NewCode, Open, Read, Rotate, SetFeature},
};

impl Handle {
    /// Mints an anonymous wallet. The code is told once. Its view is empty: free grants come with the
    /// first read.
    pub async fn create_code(&self, scope: &Scope) -> Result<(Code, WalletView), Error> {
        let scope = Scope {
            free_grants: [].into(),
            ..scope.clone()
        };
        loop {
            let (code, NewCode { hash, sealed }) = self.new_code(&scope);
            let place = (WalletKey(hash.0), Caller::Code(hash));
            let create = CreateCode(born(&scope, Owner::Code { hash, sealed }));
            match self.ask(&scope, place, create).await {
                // As good as never: the code is somebody else's already.
                Err(Error::Rejected(Rejection::WalletNotFound)) => {}
                answer => return answer.map(|view| (code, view)),
            }
        }
    }

    /// Gets or creates a user's wallet.
    pub async fn open_external(
        &self,
        scope: &Scope,
        user: ExternalUserId,
    ) -> Result<WalletView, Error> {
        let place = (external_key(scope.project, &user), Caller::External);
        let open = Open(born(scope, Owner::External(user)));
        self.ask(scope, place, open).await
    }

    /// Reads a wallet.
    pub async fn read(&self, scope: &Scope, address: &Address) -> Result<WalletView, Error> {
        self.ask_at(scope, address, Read).await
    }

    /// Uses credits up.
    pub async fn deduct(
        &self,
        scope: &Scope,
        address: &Address,
        command: Deduct,
    ) -> Result<Applied, Error> {
        self.ask_at(scope, address, command).await
    }

    /// Grants credits; creates a user's wallet if there is none.
    pub async fn credit(
        &self,
        scope: &Scope,
        address: &Address,
        command: Credit,
    ) -> Result<Applied, Error> {
        let created = created(scope, address);
        let grant = Grant { command, created };
        self.ask_at(scope, address, grant).await
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
        let created = match action {
            FeatureAction::Grant => created(scope, address),
            FeatureAction::Revoke => None,
        };
        let set = SetFeature {
            feature,
            action,
            created,
        };
        self.ask_at(scope, address, set).await
    }

    /// Replaces a leaked code; the old one stops resolving at once.
    pub async fn rotate(&self, scope: &Scope, code: &Code) -> Result<Code, Error> {
        let (new, stored) = self.new_code(scope);
        let address = Address::Code(code.clone());
        self.ask_at(scope, &address, Rotate(stored)).await?;
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
