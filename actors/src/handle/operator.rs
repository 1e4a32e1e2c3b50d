//! An operator's closer look at a wallet. It is named by the key that it is stored under, so that no recovery code or
//! user id has to appear in a URL.

use std::sync::Arc;

use domain::{
    Rejection,
    id::{WalletId, WalletKey},
    time::Span,
    wallet::Wallet,
};

use super::{Address, Handle, Scope, orders::unreadable};
use crate::{
    answer::Error,
    wallet::{InspectWallet, RecordQuery, SubscriptionDetail, WalletDetail},
};

impl Handle {
    /// The address of the wallet with this id.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`]; [`Error::Unavailable`] when the books cannot be read.
    pub fn address_of(&self, id: WalletId) -> Result<Address, Error> {
        let key = self.books().wallet(id);
        let key = key.map_err(|error| unreadable(&error))?;
        let key = key.ok_or(Rejection::WalletNotFound)?;
        Ok(Address::Stored(key))
    }

    /// A wallet with the origins of its credits and features.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn inspect(&self, scope: &Scope, address: &Address) -> Result<WalletDetail, Error> {
        self.ask_at(scope, address, InspectWallet).await
    }

    /// Ended subscriptions of a wallet, the last one first: at most `limit`, within as many records as are scanned
    /// for a page of its ledger.
    ///
    /// # Errors
    ///
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

    /// At most `limit` wallets of all projects after `after`, in the order of their keys and as they were some seconds
    /// ago. Reads the books: not for a thread of the runtime.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn wallets_after(
        &self,
        after: Option<&WalletKey>,
        limit: usize,
    ) -> Result<Vec<Wallet>, persistence::Error> {
        self.books().wallets_after(after, limit)
    }
}
