//! An operator's search for wallets, and a closer look at one. Once found, a wallet is named by the key that it is
//! stored under, so that no recovery code or user id has to appear in a URL.

use std::sync::Arc;

use domain::{
    Rejection,
    code::RecoveryCode,
    id::{HoldId, OrderId, WalletId, WalletKey},
    text::{CheckoutId, Email, ExternalUserId},
    time::Span,
    wallet::Wallet,
};

use super::{Address, Handle, Scope, orders::unreadable};
use crate::{
    answer::{Error, WalletView},
    wallet::{InspectWallet, RecordQuery, SubscriptionDetail, WalletDetail},
};

impl Handle {
    /// The wallets of a project that a text leads to, each once and at most `limit`: by a user id, a recovery code,
    /// `wref_…` or `wal_…`, an order, a checkout, a hold, or the email address of a paid order.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn search(
        &self,
        scope: &Scope,
        text: &str,
        limit: usize,
    ) -> Result<Vec<WalletView>, Error> {
        let mut wallets: Vec<WalletView> = Vec::new();
        for address in self.addresses(scope, text, limit)? {
            match self.read(scope, &address).await {
                Ok(view) if wallets.iter().all(|other| other.key != view.key) => wallets.push(view),
                Ok(_) | Err(Error::Rejected(Rejection::WalletNotFound)) => {}
                Err(error) => return Err(error),
            }
        }
        wallets.truncate(limit);
        Ok(wallets)
    }

    /// Everything that a text may name: user ids are the project's own, and may look like anything.
    fn addresses(&self, scope: &Scope, text: &str, limit: usize) -> Result<Vec<Address>, Error> {
        let user = ExternalUserId::new(text).map(Address::External);
        let text = text.trim();
        let code = RecoveryCode::parse(text).map(Address::Code);
        let mut keys: Vec<WalletKey> = text.parse::<WalletKey>().into_iter().collect();
        keys.extend(text.parse::<OrderId>().map(|order| order.wallet));
        keys.extend(text.parse::<HoldId>().map(|hold| hold.wallet));
        if let Ok(checkout) = CheckoutId::new(text) {
            let order = self.checkout_order(scope, &checkout)?;
            keys.extend(order.map(|order| order.wallet));
        }
        if let Ok(id) = text.parse::<WalletId>() {
            let key = self.books().wallet(id);
            keys.extend(key.map_err(|error| unreadable(&error))?);
        }
        if let Ok(email) = Email::new(text) {
            let buyers = self.books().buyers(scope.project, &email, limit);
            keys.extend(buyers.map_err(|error| unreadable(&error))?);
        }
        let stored = keys.into_iter().map(Address::Stored);
        Ok(user.into_iter().chain(code).chain(stored).collect())
    }

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
        let query = RecordQuery {
            before: None,
            limit,
            within: Span::ALWAYS,
            wants: Arc::new(|record| SubscriptionDetail::from_record(record).is_some()),
        };
        let records = self.records(scope, address, query).await?;
        let matches = records.matches.iter();
        Ok(matches
            .filter_map(SubscriptionDetail::from_record)
            .collect())
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
