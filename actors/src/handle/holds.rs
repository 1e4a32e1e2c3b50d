//! Operations on holds. A hold's id names its wallet.

use domain::{
    Timestamp,
    id::HoldId,
    wallet::{draw::Draw, hold::PlaceHold, settle::Settle},
};

use super::{Address, Handle, HoldAccess, Located, Scope, serial::serial};
use crate::{
    answer::{CommandResult, Error, HoldAnswer},
    wallet::{Caller, Command, Extend, FindHold, Release, UseHold},
};

impl Handle {
    /// Places a hold, which `hold` makes of its new id and the present time.
    /// # Errors
    /// `WalletNotFound`, and those of [`domain::wallet::Wallet::place_hold`]; else see [`Error`].
    pub async fn place_hold(
        &self,
        scope: &Scope,
        address: &Address,
        hold: impl FnOnce(HoldId, Timestamp) -> PlaceHold,
    ) -> Result<HoldAnswer, Error> {
        let hold = self.locate_hold(scope, address, hold)?;
        self.ask(scope, hold.wallet, hold.command).await
    }

    pub(super) fn locate_hold(
        &self,
        scope: &Scope,
        address: &Address,
        hold: impl FnOnce(HoldId, Timestamp) -> PlaceHold,
    ) -> Result<Located<PlaceHold>, Error> {
        let (wallet, caller) = self.target_of(scope, address)?;
        let id = HoldId {
            serial: serial(),
            wallet,
        };
        Ok(Located {
            wallet: (wallet, caller),
            created: None,
            command: hold(id, self.now_in(scope)),
        })
    }

    /// A hold's present state.
    /// # Errors
    /// `HoldNotFound`, [`Error::SecretKeyRequired`]; else see [`Error`].
    pub async fn hold(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
    ) -> Result<HoldAnswer, Error> {
        let hold = (id.wallet, caller_of(scope, access));
        self.ask(scope, hold, FindHold(id)).await
    }

    /// Charges a part of an open hold.
    /// # Errors
    /// [`Error::SecretKeyRequired`], and those of [`domain::wallet::Wallet::draw`]; else see [`Error`].
    pub async fn draw(
        &self,
        scope: &Scope,
        access: HoldAccess,
        draw: Draw,
    ) -> Result<HoldAnswer, Error> {
        self.use_hold(scope, access, draw.hold, draw).await
    }

    /// Closes a hold and deducts what the work cost, 0 credits or more.
    /// # Errors
    /// [`Error::SecretKeyRequired`], and those of [`domain::wallet::Wallet::settle`]; else see [`Error`].
    pub async fn settle(&self, scope: &Scope, settle: Settle) -> Result<CommandResult, Error> {
        let access = match settle.publishable {
            true => HoldAccess::CodeWallets,
            false => HoldAccess::All,
        };
        self.use_hold(scope, access, settle.hold, settle).await
    }

    /// Closes a hold without a deduction.
    /// # Errors
    /// [`Error::SecretKeyRequired`], and those of [`domain::wallet::Wallet::release`]; else see [`Error`].
    pub async fn release(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
    ) -> Result<CommandResult, Error> {
        self.use_hold(scope, access, id, Release(id)).await
    }

    /// Extends a hold: its new expiry is counted from now.
    /// # Errors
    /// [`Error::SecretKeyRequired`], and those of [`domain::wallet::Wallet::extend`]; else see [`Error`].
    pub async fn extend(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
        expires_in_seconds: u32,
    ) -> Result<HoldAnswer, Error> {
        let seconds = i64::from(expires_in_seconds);
        let extend = Extend {
            hold: id,
            expires_at: self.now_in(scope).plus_seconds(seconds),
        };
        self.use_hold(scope, access, id, extend).await
    }

    async fn use_hold<V: Command>(
        &self,
        scope: &Scope,
        access: HoldAccess,
        hold: HoldId,
        command: V,
    ) -> Result<V::Answer, Error> {
        let place = (hold.wallet, caller_of(scope, access));
        let command = UseHold {
            hold,
            access,
            command,
        };
        self.ask(scope, place, command).await
    }
}

/// Who uses a hold.
pub(super) fn caller_of(scope: &Scope, access: HoldAccess) -> Caller {
    Caller::Hold {
        project: scope.project,
        code_wallets_only: access == HoldAccess::CodeWallets,
    }
}
