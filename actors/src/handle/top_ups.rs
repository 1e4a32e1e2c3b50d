//! Cards on file and automatic top-ups: who has to be charged, and what wallets say of it.

use std::sync::Arc;

use domain::{
    Timestamp,
    id::WalletKey,
    text::{CardId, ExternalUserId},
    top_up::SavedCard,
};
use persistence::TopUpList;
use tokio::sync::Notify;

use super::{Address, Handle, Scope, orders::looked_up};
use crate::{
    answer::{Error, WalletView},
    wallet::{FindAttempt, ListTopUp, OpenAttempt, ReadTopUp, RemoveCard, SaveCard, TopUpDetail},
};

impl Handle {
    /// Notified when attempts to top up have become durable.
    #[must_use]
    pub fn charger(&self) -> Arc<Notify> {
        Arc::clone(&self.inner.registry.charger)
    }

    /// At most `limit` wallets whose automatic top-up is in a list by `until`, earliest first, after a position.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn top_ups(
        &self,
        scope: &Scope,
        list: TopUpList,
        after: Option<(Timestamp, WalletKey)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, WalletKey)>, Error> {
        looked_up(
            self.books()
                .top_ups(scope.project, list, after, until, limit),
        )
    }

    /// Decides what is due about a wallet's top-up, unless nothing is sold, and returns the attempt that is open then.
    /// # Errors
    /// See [`Error`].
    pub async fn open_attempt(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        sells: bool,
    ) -> Result<Option<OpenAttempt>, Error> {
        self.ask_order(scope, wallet, FindAttempt { sells }).await
    }

    /// A wallet's card on file and automatic top-up.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn top_up(&self, scope: &Scope, address: &Address) -> Result<TopUpDetail, Error> {
        self.ask_at(scope, address, ReadTopUp).await
    }

    /// At most `limit` wallets with suspended top-ups after one of them, in the order of their keys; none is woken.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn suspended_top_ups(
        &self,
        scope: &Scope,
        after: Option<WalletKey>,
        limit: usize,
    ) -> Result<Vec<(WalletView, TopUpDetail)>, Error> {
        let after = after.map(|key| (Timestamp(0), key));
        let list = self.top_ups(scope, TopUpList::Suspended, after, Timestamp(0), limit)?;
        let mut found = Vec::with_capacity(list.len());
        for (_, wallet) in list {
            match self.ask_order(scope, wallet, ListTopUp).await {
                Ok(listed) => found.push(listed),
                // It was looked up before its append, which failed.
                Err(Error::Rejected(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Puts a card on file; returns the one that it replaced. A missing wallet is created.
    /// # Errors
    /// See [`Error`].
    pub async fn save_card(
        &self,
        scope: &Scope,
        user: ExternalUserId,
        card: SavedCard,
    ) -> Result<Option<SavedCard>, Error> {
        self.ask_at(scope, &Address::External(user), SaveCard(card))
            .await
    }

    /// Forgets the card on file, or only if it is this one.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn remove_card(
        &self,
        scope: &Scope,
        address: &Address,
        card: Option<CardId>,
    ) -> Result<(), Error> {
        self.ask_at(scope, address, RemoveCard(card)).await
    }
}
