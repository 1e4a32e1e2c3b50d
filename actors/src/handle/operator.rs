//! An operator's view of a wallet, which is named by its stored key, so that no recovery code or user id has to appear
//! in a URL.

use std::sync::Arc;

use domain::{
    Rejection,
    id::{WalletId, WalletKey},
    limit::LimitDetail,
    time::Span,
    wallet::Wallet,
};

use super::{Address, Handle, Scope, orders::looked_up};
use crate::{
    answer::Error,
    wallet::{InspectLimits, InspectWallet, RecordQuery, SubscriptionDetail, WalletDetail},
};

impl Handle {
    /// The key of the wallet with this id.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; [`Error::Unavailable`] when the books cannot be read.
    pub fn key_of(&self, id: WalletId) -> Result<WalletKey, Error> {
        let key = looked_up(self.books().wallet(id))?;
        Ok(key.ok_or(Rejection::WalletNotFound)?)
    }

    /// A wallet with the origins of its credits and features: at most `limit` lots of each account, and holds.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn inspect(
        &self,
        scope: &Scope,
        address: &Address,
        limit: usize,
    ) -> Result<WalletDetail, Error> {
        let command = InspectWallet { limit };
        self.ask_at(scope, address, command).await
    }

    /// A wallet's limits: of each pattern the `limit` counters that used most, among those whose names contain `named`.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn inspect_limits(
        &self,
        scope: &Scope,
        address: &Address,
        named: String,
        limit: usize,
    ) -> Result<Vec<LimitDetail>, Error> {
        let command = InspectLimits { named, limit };
        self.ask_at(scope, address, command).await
    }

    /// Ended subscriptions of a wallet, newest first: at most `limit`, within as many records as are scanned for a
    /// ledger page.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn ended_subscriptions(
        &self,
        scope: &Scope,
        address: &Address,
        limit: usize,
    ) -> Result<Vec<SubscriptionDetail>, Error> {
        let project = scope.project;
        let detail = move |record: &_| SubscriptionDetail::from_record(project, record);
        let query = RecordQuery {
            before: None,
            limit,
            within: Span::ALWAYS,
            wants: Arc::new(move |record| detail(record).is_some()),
        };
        let records = self.records(scope, address, query).await?;
        Ok(records.matches.iter().filter_map(detail).collect())
    }

    /// At most `limit` wallets of all projects after `after`, by key and as of some seconds ago. Reads from disk: not
    /// for a thread of the runtime.
    /// # Errors
    /// The books cannot be read.
    pub fn wallets_after(
        &self,
        after: Option<&WalletKey>,
        limit: usize,
    ) -> Result<Vec<Wallet>, persistence::Error> {
        self.books().wallets_after(after, limit)
    }
}
