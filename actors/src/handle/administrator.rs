//! Wallets as an administrator gets at them: found by whatever somebody has in hand, and from then on
//! named by where they are stored. No code and no user's id has to be in an address for that.

use std::sync::Arc;

use domain::{
    Rejection,
    id::{WalletId, WalletKey},
    text::{Email, SubscriptionId},
    wallet::credit::Credit,
};

use super::{Address, Handle, Scope, orders::unreadable};
use crate::{
    answer::{Applied, Error, LedgerPage, LedgerQuery, WalletView},
    wallet::{Caller, Grant, LookAtSubscription, Read, RecordQuery, SubscriptionInside},
};

/// A wallet, and where it is stored.
pub type Found = (WalletKey, WalletView);

impl Handle {
    /// The wallet that a request would name so.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] where there is none.
    pub async fn find(&self, scope: &Scope, address: &Address) -> Result<Found, Error> {
        let place = self.locate(scope, address)?;
        let view = self.ask(scope, place, Read).await?;
        Ok((place.0, view))
    }

    /// The wallet that is stored there.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] where there is none, or one of another project.
    pub async fn read_stored(&self, scope: &Scope, wallet: WalletKey) -> Result<WalletView, Error> {
        self.ask(scope, stored(scope, wallet), Read).await
    }

    /// Where the wallet of this name is stored, whosever it is; `None`: there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where the books cannot be read.
    pub fn stored_as(&self, id: WalletId) -> Result<Option<WalletKey>, Error> {
        let found = self.books().wallet(id);
        found.map_err(|error| unreadable(&error))
    }

    /// At most so many wallets that somebody paid for under this address.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where the books cannot be read.
    pub async fn paid_by(
        &self,
        scope: &Scope,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<Found>, Error> {
        let wallets = self.books().buyers(scope.project, email, limit);
        let mut found = Vec::new();
        for wallet in wallets.map_err(|error| unreadable(&error))? {
            match self.read_stored(scope, wallet).await {
                Ok(view) => found.push((wallet, view)),
                // It was not logged after all.
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
    /// [`Rejection::WalletNotFound`] where there is none, or one of another project.
    pub async fn stored_ledger(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        query: LedgerQuery,
    ) -> Result<LedgerPage, Error> {
        self.ledger_of(scope, stored(scope, wallet), query).await
    }

    /// A subscription of a stored wallet, also one that is over.
    ///
    /// # Errors
    ///
    /// [`Rejection::SubscriptionNotFound`] where the wallet never had it.
    pub async fn look_at_subscription(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        id: SubscriptionId,
    ) -> Result<SubscriptionInside, Error> {
        let look = LookAtSubscription(id);
        self.ask(scope, stored(scope, wallet), look).await
    }

    /// Subscriptions of a stored wallet that are over, the last one first: at most `limit`, as far back as a
    /// page of its ledger looks.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] where there is none, or one of another project.
    pub async fn ended_subscriptions(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        limit: usize,
    ) -> Result<Vec<SubscriptionInside>, Error> {
        let query = RecordQuery {
            before: None,
            limit,
            wants: Arc::new(|record| SubscriptionInside::over(record).is_some()),
        };
        let records = self.records_of(scope, stored(scope, wallet), query).await?;
        let found = records.found.iter();
        Ok(found.filter_map(SubscriptionInside::over).collect())
    }

    /// Grants a stored wallet credits; it has to be there.
    ///
    /// # Errors
    ///
    /// As [`Handle::credit`].
    pub async fn credit_stored(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        command: Credit,
    ) -> Result<Applied, Error> {
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
