//! Holds. A hold's identifier names its wallet.

use domain::{Rejection, id::HoldId, wallet::hold::PlaceHold};
use uuid::Uuid;

use super::{Address, Handle, HoldAccess, NewHold, Scope};
use crate::{
    answer::{Applied, Error, HoldAnswer},
    registry::Absent,
    wallet::{Caller, Command, Reply},
};

impl Handle {
    /// Sets credits aside.
    pub async fn place_hold(
        &self,
        scope: &Scope,
        address: &Address,
        hold: NewHold,
    ) -> Result<HoldAnswer, Error> {
        let (key, caller) = self.locate(scope, address)?;
        let NewHold {
            product,
            amount,
            expires_in_seconds,
            key: idempotency,
            meta,
            most_open,
        } = hold;
        let place = PlaceHold {
            id: HoldId {
                serial: Uuid::now_v7().as_u128(),
                wallet: key,
            },
            product,
            amount,
            expires_at: self
                .now_in(scope)
                .plus_seconds(i64::from(expires_in_seconds)),
            key: idempotency,
            meta,
            most_open,
        };
        let command = |reply| Command::PlaceHold(place, reply);
        let answer = self.ask(key, Absent::Leave, scope, caller, command).await?;
        answer.ok_or_else(|| Rejection::WalletNotFound.into())
    }

    /// How a hold stands.
    pub async fn hold(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
    ) -> Result<HoldAnswer, Error> {
        self.ask_hold(scope, access, id, |reply| Command::Hold(id, reply))
            .await
    }

    /// Closes a hold by its cost, 0 credits or more.
    pub async fn settle(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
        amount: i64,
    ) -> Result<Applied, Error> {
        self.ask_hold(scope, access, id, |reply| {
            Command::Settle(id, amount, reply)
        })
        .await
    }

    /// Gives a hold back.
    pub async fn release(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
    ) -> Result<Applied, Error> {
        self.ask_hold(scope, access, id, |reply| Command::Release(id, reply))
            .await
    }

    /// Gives a hold more time, counted from now.
    pub async fn extend(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
        expires_in_seconds: u32,
    ) -> Result<HoldAnswer, Error> {
        let to = self
            .now_in(scope)
            .plus_seconds(i64::from(expires_in_seconds));
        self.ask_hold(scope, access, id, |reply| Command::Extend(id, to, reply))
            .await
    }

    async fn ask_hold<T>(
        &self,
        scope: &Scope,
        access: HoldAccess,
        id: HoldId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, Error> {
        let code_wallets_only = access == HoldAccess::CodeWallets;
        let caller = Caller::Hold {
            project: scope.project,
            code_wallets_only,
        };
        let answer = self
            .ask(id.wallet, Absent::Leave, scope, caller, command)
            .await?;
        answer.ok_or_else(|| Rejection::HoldNotFound.into())
    }
}
