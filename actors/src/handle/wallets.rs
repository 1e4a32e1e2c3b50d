//! Operations on wallets: creating, reading, granting, deducting, features, recovery codes.

use std::sync::Arc;

use domain::{
    Rejection,
    catalog::KeyKind,
    code::RecoveryCode,
    id::WalletKey,
    limit::LimitState,
    text::{ExternalUserId, Feature, IdempotencyKey, Member},
    wallet::{
        Owner,
        credit::Credit,
        debt_limit::{DebtState, SetDebtLimit},
        deduct::Deduct,
        feature::FeatureAction,
        forgive::Forgive,
        freeze::SetFrozen,
        limits::SetLimits,
        pay::MintedCode,
        top_up::{SetEmail, SetTopUp},
    },
};

use super::{Address, Handle, Scope, born};
use crate::{
    answer::{CommandResult, Error, ForgiveAnswer, Rotation, WalletView},
    keyring::external_key,
    wallet::{
        Caller, CheckCaller, CreateCode, Read, ReadLimits, ReplaceCode, Rotate, SetFeature,
        TopUpDetail,
    },
};

const HOUR_MILLIS: i64 = 3_600_000;
/// How many full hours a rotation under a key is replayed.
const REPLAY_HOURS: i64 = 24;

/// Operations that the wallet at an address decides by itself.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident: $command:ty => $answer:ty;)*) => {
        impl Handle {$(
            $(#[$doc])*
            /// # Errors
            /// [`Rejection::WalletNotFound`] where there is none and none is created, and those of the method of this
            /// name of [`domain::wallet::Wallet`]; else see [`Error`].
            pub async fn $name(
                &self,
                scope: &Scope,
                address: &Address,
                command: $command,
            ) -> Result<$answer, Error> {
                self.ask_at(scope, address, command).await
            }
        )*}
    };
}

operations! {
    /// Deducts credits from a wallet.
    deduct: Deduct => CommandResult;
    /// Grants credits; creates a missing user's wallet.
    credit: Credit => CommandResult;
    /// Sets or removes a wallet's own debt limit; setting it creates a missing user's wallet.
    limit_debt: SetDebtLimit => DebtState;
    /// Replaces a wallet's own limits; creates a missing user's wallet. Returns those in force.
    set_limits: SetLimits => Vec<LimitState>;
    /// Sets the automatic top-up, or switches it off.
    set_top_up: SetTopUp => TopUpDetail;
    /// Sets or removes the address for the wallet's mails; creates a missing user's wallet.
    set_email: SetEmail => ();
    /// Forgives a debt, all of it or a part.
    forgive: Forgive => ForgiveAnswer;
    /// Freezes or unfreezes a wallet; returns it. A repeat changes nothing.
    set_frozen: SetFrozen => WalletView;
}

impl Handle {
    /// Creates an anonymous wallet. Only this call returns its recovery code. The view has no balances, because free
    /// grants come with the first read.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn create_code(&self, scope: &Scope) -> Result<(RecoveryCode, WalletView), Error> {
        let scope = Scope {
            free_grants: [].into(),
            ..scope.clone()
        };
        loop {
            let code = self.inner.keyring.draw_code();
            let MintedCode { hash, sealed } = self.minted(&scope, &code);
            let place = (WalletKey(hash.0), Caller::Code(hash));
            let created = Some(born(&scope, Owner::Code { hash, sealed }));
            let created = self.ask_or_create(&scope, place, created, CreateCode);
            match created.await {
                // The code belongs to another wallet already; practically impossible.
                Err(Error::Rejected(Rejection::WalletNotFound)) => {}
                answer => return answer.map(|view| (code, view)),
            }
        }
    }

    /// Gets or creates a user's wallet.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn open_external(
        &self,
        scope: &Scope,
        user: ExternalUserId,
    ) -> Result<WalletView, Error> {
        let place = (external_key(scope.project, &user), Caller::External);
        let created = Some(born(scope, Owner::External(user)));
        self.ask_or_create(scope, place, created, Read).await
    }

    /// Reads the limits in force: all of them, or those of a member.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn limits(
        &self,
        scope: &Scope,
        address: &Address,
        member: Option<Member>,
    ) -> Result<Vec<LimitState>, Error> {
        self.ask_at(scope, address, ReadLimits(member)).await
    }

    /// Reads a wallet.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn read(&self, scope: &Scope, address: &Address) -> Result<WalletView, Error> {
        self.ask_at(scope, address, Read).await
    }

    /// Grants or revokes a feature; returns all features. A grant creates a missing user's wallet.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn set_feature(
        &self,
        scope: &Scope,
        address: &Address,
        feature: Feature,
        action: FeatureAction,
    ) -> Result<Vec<String>, Error> {
        let set = SetFeature { feature, action };
        self.ask_at(scope, address, set).await
    }

    /// Replaces a leaked code; the old one stops working at once. With a key, the same call returns the same new code
    /// for 24 hours to the same kind of caller, while that code opens the wallet. A frozen wallet's code is replaced
    /// with a secret key only.
    /// # Errors
    /// [`Rejection::WalletNotFound`] when the old code opens no wallet; [`Rejection::Frozen`]; else see [`Error`].
    pub async fn rotate(
        &self,
        scope: &Scope,
        old: &RecoveryCode,
        key: Option<&IdempotencyKey>,
        by: KeyKind,
    ) -> Result<Rotation, Error> {
        let hour = self.now().0.div_euclid(HOUR_MILLIS);
        let keyring = &self.inner.keyring;
        let derived = |hour| keyring.rotated_code(scope.project, (old, by), key?, hour);
        let code = derived(hour).unwrap_or_else(|| keyring.draw_code());
        let minted = self.minted(scope, &code);
        let rotate = Rotate {
            minted,
            although_frozen: by == KeyKind::Secret,
        };
        let rotated = self
            .ask_at(scope, &Address::Code(old.clone()), rotate)
            .await;
        match rotated {
            Err(Error::Rejected(Rejection::WalletNotFound)) if key.is_some() => {}
            rotated => {
                let replayed = false;
                return rotated.map(|()| Rotation { code, replayed });
            }
        }
        // The old code no longer works, perhaps because this call was made before.
        for ago in 0..=REPLAY_HOURS {
            let Some(code) = derived(hour.saturating_sub(ago)) else {
                continue;
            };
            let hash = keyring.code_hash(scope.project, &code);
            let Some(wallet) = self.inner.registry.replaced(hash)? else {
                continue;
            };
            match self
                .ask(scope, (wallet, Caller::Code(hash)), CheckCaller)
                .await
            {
                Err(Error::Rejected(Rejection::WalletNotFound)) => {}
                answer => {
                    let replayed = true;
                    return answer.map(|()| Rotation { code, replayed });
                }
            }
        }
        Err(Rejection::WalletNotFound.into())
    }

    /// Replaces the code of a wallet without knowing the present one, which stops working at once; sessions end, and
    /// holds of publishable keys are released. With a key, the same call returns the same new code for 24 hours, while
    /// that code opens the wallet.
    /// # Errors
    /// [`Rejection::WalletNotFound`], [`Rejection::NoRecoveryCode`] for a user's wallet; else see [`Error`].
    pub async fn replace_code(
        &self,
        scope: &Scope,
        address: &Address,
        key: Option<&IdempotencyKey>,
    ) -> Result<Rotation, Error> {
        let hour = self.now().0.div_euclid(HOUR_MILLIS);
        let replace = ReplaceCode {
            keyring: Arc::clone(&self.inner.keyring),
            key: key.cloned(),
            hours: hour.saturating_sub(REPLAY_HOURS)..=hour,
        };
        self.ask_at(scope, address, replace).await
    }

    /// Makes a code for a wallet created by its first payment. Only the order shows it.
    #[must_use]
    pub fn mint_code(&self, scope: &Scope) -> MintedCode {
        self.minted(scope, &self.inner.keyring.draw_code())
    }

    fn minted(&self, scope: &Scope, code: &RecoveryCode) -> MintedCode {
        let keyring = &self.inner.keyring;
        MintedCode {
            hash: keyring.code_hash(scope.project, code),
            sealed: keyring.seal(code),
        }
    }
}
