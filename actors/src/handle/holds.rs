//! Holds. A hold's identifier names its wallet.

use domain::{
    id::{HoldId, WalletKey},
    wallet::hold::PlaceHold,
};

use super::{Address, Handle, HoldAccess, NewHold, Scope, serial::serial};
use crate::{
    answer::{Applied, Error, HoldAnswer},
    wallet::{Caller, Extend, FindHold, Release, Settle},
};

impl Handle {
    /// Sets credits aside.
    pub async fn place_hold(
        &self,
        scope: &Scope,
        address: &Address,
        hold: NewHold,
    ) -> Result<HoldAnswer, Error> {
        let (wallet, caller) = self.locate(scope, address)?;
        let NewHold {
            product,
            amount,
            expires_in_seconds,
            key,
            meta,
            publishable,
            most_open,
        } = hold;
        let place = PlaceHold {
            id: HoldId {
                serial: serial(),
                wallet,
            },
            product,
            amount,
            expires_at: self
                .now_in(scope)
                .plus_seconds(i64::from(expires_in_seconds)),
            key,
            meta,
            publishable,
            most_open,
        };
        self.ask(scope, (wallet, caller), place).await
    }

    /// How a hold stands.
    pub async fn hold(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
    ) -> Result<HoldAnswer, Error> {
        let hold = located(scope, access, id);
        self.ask(scope, hold, FindHold(id)).await
    }

    /// Closes a hold by its cost, 0 credits or more.
    pub async fn settle(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
        amount: i64,
    ) -> Result<Applied, Error> {
        let settle = Settle { hold: id, amount };
        self.ask(scope, located(scope, access, id), settle).await
    }

    /// Gives a hold back.
    pub async fn release(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
    ) -> Result<Applied, Error> {
        let hold = located(scope, access, id);
        self.ask(scope, hold, Release(id)).await
    }

    /// Gives a hold more time, counted from now.
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
        self.ask(scope, located(scope, access, id), extend).await
    }
}

/// Where a hold's wallet is, and what it must check.
fn located(scope: &Scope, access: HoldAccess, id: HoldId) -> (WalletKey, Caller) {
    let caller = Caller::Hold {
        project: scope.project,
        code_wallets_only: access == HoldAccess::CodeWallets,
    };
    (id.wallet, caller)
}
