//! Wallets for the administration: found by any id or email address, and from then on named by the key that
//! they are stored under, so that no recovery code or user id has to appear in a URL.

use std::sync::Arc;

use domain::{
    Rejection,
    id::{WalletId, WalletKey},
    text::{Email, SubscriptionId},
    wallet::credit::Credit,
};

use super::{Address, Handle, Scope, orders::unreadable};
use crate::{
    answer::{CommandResult, Error, LedgerPage, LedgerQuery, WalletView},
    wallet::{Caller, FindSubscription, Grant, Read, RecordQuery, SubscriptionDetail},
};

/// A wallet, and the key that it is stored under.
pub type StoredWallet = (WalletKey, WalletView);

impl Handle {
    /// The wallet with this user id or recovery code.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] when there is none; else see [`Error`].
    pub async fn find(&self, scope: &Scope, address: &Address) -> Result<StoredWallet, Error> {
        let place = self.target_of(scope, address)?;
        let view = self.ask(scope, place, Read).await?;
        Ok((place.0, view))
    }

    /// The wallet that is stored under this key.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] when there is none or it is another project's; else see [`Error`].
    pub async fn read_stored(&self, scope: &Scope, wallet: WalletKey) -> Result<WalletView, Error> {
        self.ask(scope, stored(scope, wallet), Read).await
    }

    /// The key of the wallet with this public id, in whichever project; `None`: there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn key_of_wallet_id(&self, id: WalletId) -> Result<Option<WalletKey>, Error> {
        let found = self.books().wallet(id);
        found.map_err(|error| unreadable(&error))
    }

    /// At most `limit` wallets with an order that was paid under this email address.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn paid_by(
        &self,
        scope: &Scope,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<StoredWallet>, Error> {
        let wallets = self.books().buyers(scope.project, email, limit);
        let mut found = Vec::new();
        for wallet in wallets.map_err(|error| unreadable(&error))? {
            match self.read_stored(scope, wallet).await {
                Ok(view) => found.push((wallet, view)),
                // The look-up had it before its append, which then failed.
                Err(Error::Rejected(Rejection::WalletNotFound)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Reads a page of a stored wallet's ledger.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] when there is none or it is another project's; else see [`Error`].
    pub async fn stored_ledger(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        query: LedgerQuery,
    ) -> Result<LedgerPage, Error> {
        self.ledger_of(scope, stored(scope, wallet), query).await
    }

    /// A subscription of a stored wallet, current or ended.
    ///
    /// # Errors
    ///
    /// [`Rejection::SubscriptionNotFound`] when the wallet never had it; else see [`Error`].
    pub async fn look_at_subscription(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        id: SubscriptionId,
    ) -> Result<SubscriptionDetail, Error> {
        let look = FindSubscription(id);
        self.ask(scope, stored(scope, wallet), look).await
    }

    /// Ended subscriptions of a stored wallet, the last one first: at most `limit`, within as many records as
    /// are scanned for a page of its ledger.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] when there is none or it is another project's; else see [`Error`].
    pub async fn ended_subscriptions(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        limit: usize,
    ) -> Result<Vec<SubscriptionDetail>, Error> {
        let query = RecordQuery {
            before: None,
            limit,
            wants: Arc::new(|record| SubscriptionDetail::over(record).is_some()),
        };
        let records = self.records_of(scope, stored(scope, wallet), query).await?;
        let matches = records.matches.iter();
        Ok(matches.filter_map(SubscriptionDetail::over).collect())
    }

    /// Grants credits to a stored wallet, which has to exist.
    ///
    /// # Errors
    ///
    /// The same as [`Handle::credit`].
    pub async fn credit_stored(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        command: Credit,
    ) -> Result<CommandResult, Error> {
        let grant = Grant {
            command,
            created: None,
        };
        self.ask(scope, stored(scope, wallet), grant).await
    }
}

pub(super) const fn stored(scope: &Scope, wallet: WalletKey) -> (WalletKey, Caller) {
    (wallet, Caller::Administrator(scope.project))
}
